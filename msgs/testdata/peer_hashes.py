"""Writes the type hashes of every distribution that has them as one JSON object:
distribution -> type -> hash."""

import json

from rosbags.typesys import Stores, get_typestore

out = {}
for store in (Stores.ROS2_IRON, Stores.ROS2_JAZZY, Stores.ROS2_KILTED, Stores.ROS2_LYRICAL):
    types = get_typestore(store)
    out[store.name.removeprefix("ROS2_").lower()] = {n: types.hash_rihs01(n) for n in types.fielddefs}
print(json.dumps(out))
