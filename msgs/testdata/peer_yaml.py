"""Reads one JSON object a line: a message as a tree of tagged values, and how to
print it. Writes what the YAML library of the ROS 2 tools makes of it, as one JSON
string a line. Values: {"b": bool}, {"i": "digits"}, {"f": bits of a double},
{"s": text}, {"y": byte}, {"l": list}, {"m": [[name, value], ...]}."""

import json
import struct
import sys

import yaml


def convert(v, limit, top=False):
    (tag, x), = v.items()
    if tag == "b":
        return x
    if tag == "i":
        return int(x)
    if tag == "f":
        return struct.unpack(">d", bytes.fromhex(x))[0]
    if tag == "y":
        return chr(x)
    if tag == "s":
        return x[:limit] + "..." if limit and len(x) > limit else x
    if tag == "m":
        return {k: convert(e, limit) for k, e in x}
    if limit and len(x) > limit:
        return [convert(e, limit) for e in x[:limit]] + ["..."]
    return [convert(e, limit) for e in x]


for line in sys.stdin:
    case = json.loads(line)
    text = yaml.dump(
        convert(case["value"], case["truncate"]),
        allow_unicode=True,
        width=sys.maxsize,
        default_flow_style=case["flow"],
        sort_keys=False,
    )
    print(json.dumps(text))
