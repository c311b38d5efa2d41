//go:build invariants

package invariants

// Enabled says whether this is a build with the tag invariants.
const Enabled = true
