"""A program of the reference library (PyPI eclipse-zenoh), driven by JSON lines.

Each line on standard input is a command with a number "id"; the answer is a
line on standard output with the same number. What happens by itself (samples,
liveliness) is a line with "ev". At the end of input the program ends.
"""
import base64
import hashlib
import json
import os
import sys
import threading
import time

import zenoh
import zenoh.ext

lock = threading.Lock()

P = zenoh.Priority
PRIORITIES = {
    1: P.REAL_TIME,
    2: P.INTERACTIVE_HIGH,
    3: P.INTERACTIVE_LOW,
    4: P.DATA_HIGH,
    5: P.DATA,
    6: P.DATA_LOW,
    7: P.BACKGROUND,
}


def say(**line):
    with lock:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def unpack(x):
    if x is None:
        return None
    if isinstance(x, dict):  # {"size": n, "fill": b}
        return bytes([x["fill"]]) * x["size"]
    return base64.b64decode(x)


def pack(z):
    b = bytes(z)
    return {
        "len": len(b),
        "sha": hashlib.sha256(b).hexdigest(),
        "b64": base64.b64encode(b).decode() if len(b) <= 4096 else None,
    }


def describe(s):
    src = s.source_info
    return {
        "key": str(s.key_expr),
        "kind": "delete" if s.kind == zenoh.SampleKind.DELETE else "put",
        "payload": pack(s.payload),
        "att": base64.b64encode(bytes(s.attachment)).decode() if s.attachment is not None else None,
        "enc": str(s.encoding),
        "ts": str(s.timestamp) if s.timestamp is not None else None,
        "prio": next(n for n, p in PRIORITIES.items() if p == s.priority),
        "block": s.congestion_control == zenoh.CongestionControl.BLOCK,
        "express": s.express,
        "src": [str(src.source_id.zid), src.source_id.eid, src.source_sn] if src is not None else None,
    }


class Peer:
    def __init__(self):
        self.s = None
        self.things = {}

    def open(self, mode="client", connect=None, listen=None, config=None):
        c = zenoh.Config()
        c.insert_json5("mode", json.dumps(mode))
        c.insert_json5("scouting/multicast/enabled", "false")
        c.insert_json5("transport/shared_memory/enabled", "false")
        if mode != "router":
            c.insert_json5("listen/endpoints", json.dumps(listen or []))
        if connect:
            c.insert_json5("connect/endpoints", json.dumps(connect))
        if listen:
            c.insert_json5("listen/endpoints", json.dumps(listen))
        for k, v in (config or {}).items():
            c.insert_json5(k, json.dumps(v))
        self.s = zenoh.open(c)
        return {"zid": str(self.s.zid()), "version": zenoh.__version__ if hasattr(zenoh, "__version__") else ""}

    def sub(self, key):
        self.things["sub " + key] = self.s.declare_subscriber(key, lambda s: say(ev="sample", on=key, **describe(s)))

    def count(self, key, total):
        """Counts samples and speaks only at the last of total."""
        state = {"n": 0, "bytes": 0, "first": 0.0}

        def got(s):
            if state["n"] == 0:
                state["first"] = time.monotonic()
            state["n"] += 1
            state["bytes"] += len(s.payload)
            if state["n"] == total:
                say(ev="counted", on=key, n=state["n"], bytes=state["bytes"], seconds=time.monotonic() - state["first"])

        self.things["sub " + key] = self.s.declare_subscriber(key, got)

    def pub(self, key, **o):
        self.things["pub " + key] = self.s.declare_publisher(key, **self.qos(o))

    def qos(self, o):
        out = {}
        if o.get("block"):
            out["congestion_control"] = zenoh.CongestionControl.BLOCK
        elif "block" in o:
            out["congestion_control"] = zenoh.CongestionControl.DROP
        if "prio" in o:
            out["priority"] = PRIORITIES[o["prio"]]
        if "express" in o:
            out["express"] = o["express"]
        return out

    def put(self, key, payload, att=None, enc=None, times=1, src=None, ts=False, **o):
        more = {}
        if att is not None:
            more["attachment"] = unpack(att)
        if enc is not None:
            more["encoding"] = zenoh.Encoding(enc)
        if ts:
            more["timestamp"] = self.s.new_timestamp()
        p = self.things.get("pub " + key)
        if src is not None:
            more["source_info"] = zenoh.SourceInfo(p.id, src)
        b = unpack(payload)
        begin = time.monotonic()
        for _ in range(times):
            if p is not None:
                p.put(b, **more)
            else:
                self.s.put(key, b, **more, **self.qos(o))
        return time.monotonic() - begin

    def delete(self, key):
        self.s.delete(key)

    def queryable(self, key, replies, complete=False, delay=0.0, err=None):
        """Answers with replies: a list of [key, payload, attachment]; "" stands for the query's key."""

        def answer(q):
            say(
                ev="query",
                on=key,
                key=str(q.key_expr),
                parameters=str(q.parameters),
                payload=pack(q.payload) if q.payload is not None else None,
                att=base64.b64encode(bytes(q.attachment)).decode() if q.attachment is not None else None,
                enc=str(q.encoding) if q.encoding is not None else None,
            )

            def run():
                time.sleep(delay)
                for k, p, a in replies:
                    q.reply(k or str(q.key_expr), unpack(p), attachment=unpack(a))
                if err is not None:
                    q.reply_err(unpack(err), encoding=zenoh.Encoding.TEXT_PLAIN)
                q.drop()

            if delay:
                threading.Thread(target=run, daemon=True).start()
            else:
                run()

        self.things["queryable " + key] = self.s.declare_queryable(key, answer, complete=complete)

    def get(self, key, payload=None, att=None, timeout=5.0, target=None, consolidation=None):
        more = {}
        if payload is not None:
            more["payload"] = unpack(payload)
        if att is not None:
            more["attachment"] = unpack(att)
        if target is not None:
            more["target"] = getattr(zenoh.QueryTarget, target)
        if consolidation is not None:
            more["consolidation"] = getattr(zenoh.ConsolidationMode, consolidation)
        out = []
        for r in self.s.get(key, timeout=timeout, **more):
            if r.ok is not None:
                out.append({"ok": describe(r.ok), "from": str(r.replier_id.zid) if r.replier_id else None})
            else:
                out.append({"err": pack(r.err.payload), "enc": str(r.err.encoding)})
        return out

    def token(self, key):
        self.things["token " + key] = self.s.liveliness().declare_token(key)

    def live(self, key, history=False):
        self.things["live " + key] = self.s.liveliness().declare_subscriber(
            key,
            lambda s: say(ev="live", on=key, key=str(s.key_expr), alive=s.kind == zenoh.SampleKind.PUT),
            history=history,
        )

    def liveget(self, key, timeout=5.0):
        return [str(r.ok.key_expr) for r in self.s.liveliness().get(key, timeout=timeout) if r.ok is not None]

    def undeclare(self, thing):
        self.things.pop(thing).undeclare()

    def ping(self, key, back, size, rounds, warmup=200):
        """Round trips over somebody who sends what comes on key back on back; half of each, in seconds."""
        got = threading.Event()
        self.things["ping"] = self.s.declare_subscriber(back, lambda s: got.set())
        p = self.s.declare_publisher(key, congestion_control=zenoh.CongestionControl.BLOCK, express=True)
        b = bytes(size)
        time.sleep(0.5)
        out = []
        for i in range(rounds + warmup):
            got.clear()
            t = time.perf_counter()
            p.put(b)
            if not got.wait(5):
                raise RuntimeError(f"round {i}: no answer")
            if i >= warmup:
                out.append((time.perf_counter() - t) / 2)
        out.sort()
        p.undeclare()
        return {"p50": out[len(out) // 2], "p99": out[len(out) * 99 // 100]}

    def pong(self, key, back):
        p = self.s.declare_publisher(back, congestion_control=zenoh.CongestionControl.BLOCK, express=True)
        self.things["pong pub"] = p
        self.things["pong"] = self.s.declare_subscriber(key, lambda s: p.put(s.payload))

    def adv_pub(self, key, cache=None, sequence=False, sporadic=None, detect=True, block=False):
        self.things["pub " + key] = zenoh.ext.declare_advanced_publisher(
            self.s,
            key,
            cache=zenoh.ext.CacheConfig(max_samples=cache) if cache else None,
            sample_miss_detection=zenoh.ext.MissDetectionConfig(sporadic_heartbeat=sporadic) if sequence else None,
            publisher_detection=detect,
            congestion_control=zenoh.CongestionControl.BLOCK if block else zenoh.CongestionControl.DROP,
        )

    def adv_sub(self, key, history=None, late=True, recover=False):
        sub = zenoh.ext.declare_advanced_subscriber(
            self.s,
            key,
            lambda s: say(ev="sample", on=key, **describe(s)),
            history=zenoh.ext.HistoryConfig(detect_late_publishers=late, max_samples=history) if history else None,
            recovery=zenoh.ext.RecoveryConfig(heartbeat=True) if recover else None,
        )
        self.things["sub " + key] = sub

    def close(self):
        self.s.close()


peer = Peer()
for line in sys.stdin:
    m = json.loads(line)
    op, n = m.pop("op"), m.pop("id")
    try:
        say(id=n, result=getattr(peer, op)(**m))
    except BaseException as e:  # noqa: BLE001 - everything goes back to the test
        say(id=n, error=f"{type(e).__name__}: {e}")
os._exit(0)
