// Reads one JSON object a line: type, definition, value, payload (hex). Writes
// one a line: the value encoded (hex), and the payload decoded.
const { parse } = require("@foxglove/rosmsg");
const { MessageReader, MessageWriter } = require("@foxglove/rosmsg2-serialization");

const floats = new DataView(new ArrayBuffer(8));
const fromBits = {
  float32: (s) => (floats.setUint32(0, parseInt(s, 16)), floats.getFloat32(0)),
  float64: (s) => (floats.setBigUint64(0, BigInt("0x" + s)), floats.getFloat64(0)),
};
const toBits = {
  float32: (v) => (floats.setFloat32(0, v), floats.getUint32(0).toString(16).padStart(8, "0")),
  float64: (v) => (floats.setFloat64(0, v), floats.getBigUint64(0).toString(16).padStart(16, "0")),
};

function one(definitions, field, value, convert) {
  if (field.isComplex) return struct(definitions, find(definitions, field.type), value, convert);
  return convert(field.type, value);
}

function struct(definitions, definition, value, convert) {
  const out = {};
  for (const f of definition.definitions) {
    if (f.isConstant) continue;
    out[f.name] = f.isArray
      ? Array.from(value[f.name], (v) => one(definitions, f, v, convert))
      : one(definitions, f, value[f.name], convert);
  }
  return out;
}

function find(definitions, name) {
  const full = name.replace("/", "/msg/");
  const found = definitions.find((d) => d.name === name || d.name === full);
  if (!found) throw new Error("no definition of " + name);
  return found;
}

const read = (type, v) => {
  if (type === "int64" || type === "uint64") return BigInt(v);
  if (type === "time" || type === "duration") return { sec: v.sec, nsec: v.nanosec };
  return fromBits[type] ? fromBits[type](v) : v;
};
const write = (type, v) => {
  if (type === "int64" || type === "uint64") return v.toString();
  if (type === "time" || type === "duration") return { sec: v.sec, nanosec: v.nsec ?? v.nanosec };
  return toBits[type] ? toBits[type](v) : v;
};

const cache = new Map();
function load(type, text) {
  let c = cache.get(type);
  if (!c) {
    // Parts of services and actions are passed as messages.
    const definitions = parse(text.replace(/\b(\w+)\/(srv|action)\/(\w+)/g, "$1/$3"), { ros2: true });
    const top = definitions[0];
    c = { definitions, top, reader: new MessageReader(definitions), writer: new MessageWriter(definitions) };
    cache.set(type, c);
  }
  return c;
}

const lines = require("fs").readFileSync(0, "utf8").split("\n").filter((l) => l);
for (const line of lines) {
  const c = JSON.parse(line);
  const t = load(c.type, c.definition);
  const encoded = t.writer.writeMessage(struct(t.definitions, t.top, c.value, read));
  const decoded = t.reader.readMessage(Buffer.from(c.payload, "hex"));
  console.log(JSON.stringify({
    encoded: Buffer.from(encoded).toString("hex"),
    decoded: struct(t.definitions, t.top, decoded, write),
  }));
}
