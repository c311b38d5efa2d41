"""Reads one JSON object a line: type, definition, value, payload (hex). Writes
one a line: the value encoded in both byte orders (hex), the payload decoded, and
the type hash."""

import json
import re
import struct
import sys

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

NUMPY = {"bool": np.bool_, "byte": np.uint8, "octet": np.uint8, "char": np.uint8}


def dtype(base):
    return np.dtype(NUMPY.get(base, base if base.startswith(("int", "uint", "float")) else "O"))


def number_from(base, v):
    if base == "float32":
        return struct.unpack(">f", bytes.fromhex(v))[0]
    if base == "float64":
        return struct.unpack(">d", bytes.fromhex(v))[0]
    if base in ("int64", "uint64"):
        return int(v)
    if base == "byte" and v > 127:  # signed here
        return v - 256
    return v


def number_to(base, v):
    if base == "float32":
        return struct.pack(">f", v).hex()
    if base == "float64":
        return struct.pack(">d", v).hex()
    if base in ("int64", "uint64"):
        return str(int(v))
    if base == "bool":
        return bool(v)
    if base == "string":
        return v
    return int(v) & 255 if base == "byte" else int(v)


def list_from(base, values):
    if base in ("float32", "float64"):
        size = base[-2:]
        bits = np.array([int(v, 16) for v in values], dtype="uint" + size)
        return bits.view(base)
    if base == "byte":
        return np.array(values, dtype=np.uint8)
    return np.array([number_from(base, v) for v in values], dtype=dtype(base))


def build(store, kind, value):
    node, arg = kind
    node = node.name
    if node == "BASE":
        return number_from(arg[0], value)
    if node == "NAME":
        fields = store.fielddefs[arg][1]
        cls = store.types[arg]
        return cls(**{n: build(store, k, value[n]) if n in value else 0 for n, k in fields})
    element = arg[0]
    if element[0].name == "BASE" and element[1][0] != "string":
        return list_from(element[1][0], value)
    return [build(store, element, v) for v in value]


def show(store, kind, value):
    node, arg = kind
    node = node.name
    if node == "BASE":
        return number_to(arg[0], value)
    if node == "NAME":
        return {
            n: show(store, k, getattr(value, n))
            for n, k in store.fielddefs[arg][1]
            if n != "structure_needs_at_least_one_member"
        }
    return [show(store, arg[0], v) for v in value]


PART = re.compile(r"\b(\w+)/(srv|action)/(\w+)")
stores = {}


def load(name, text):
    if name not in stores:
        store = get_typestore(Stores.EMPTY)
        found = get_types_from_msg(text, name)
        store.register({k: v for k, v in found.items() if k not in store.fielddefs})
        stores[name] = store
    return stores[name]


for line in sys.stdin:
    case = json.loads(line)
    name = PART.sub(r"\1/msg/\3", case["type"])
    store = load(name, PART.sub(r"\1/msg/\3", case["definition"]))
    top = next(k for k in store.fielddefs if k == name)
    kind = (type("Node", (), {"name": "NAME"}), top)
    value = build(store, kind, case["value"])
    print(
        json.dumps(
            {
                "encoded": bytes(store.serialize_cdr(value, name)).hex(),
                "big": bytes(store.serialize_cdr(value, name, little_endian=False)).hex(),
                "decoded": show(store, kind, store.deserialize_cdr(bytes.fromhex(case["payload"]), name)),
                "hash": store.hash_rihs01(name),
            }
        )
    )
