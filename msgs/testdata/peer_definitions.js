// Writes the definitions of every distribution as one JSON object:
// distribution -> type -> list of fields and constants.
const all = require("@foxglove/rosmsg-msgs-common");
const out = {};
for (const [distro, types] of Object.entries(all)) {
  if (distro.startsWith("ros2")) out[distro.slice(4)] = types;
}
console.log(JSON.stringify(out, (k, v) => (typeof v === "bigint" ? Number(v) : v)));
