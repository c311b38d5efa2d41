package arena

import "unsafe"

func (b *file) holds(address uintptr) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b.view)))
	return address >= start && address-start < uintptr(len(b.view))
}
