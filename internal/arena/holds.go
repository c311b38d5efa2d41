package arena

// Holds reports whether address lies in the mapping through which slots are read
// only. It is for telling what a memory fault was about.
func (a *Arena) Holds(address uintptr) bool {
	b, ok := a.back.(interface{ holds(address uintptr) bool })
	return ok && b.holds(address)
}
