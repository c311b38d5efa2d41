package shm

import "unsafe"

func (m *mappings) add(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ranges == nil {
		m.ranges = make(map[*byte]uintptr)
	}
	m.ranges[unsafe.SliceData(b)] = uintptr(len(b))
}

func (m *mappings) remove(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ranges, unsafe.SliceData(b))
}

func (m *mappings) holds(address uintptr) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for start, n := range m.ranges {
		if p := uintptr(unsafe.Pointer(start)); address >= p && address-p < n {
			return true
		}
	}
	return false
}
