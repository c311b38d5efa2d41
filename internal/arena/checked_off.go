//go:build !invariants

package arena

// checked turns misuse into a panic, and poisons what is free.
const checked = false
