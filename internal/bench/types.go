package bench

import (
	"sort"
	"unsafe"

	"github.com/tagus-ros/tagus"
	"github.com/tagus-ros/tagus/internal/bench/topology"
	irobot "github.com/tagus-ros/tagus/msgs/irobot_interfaces_plugin"
	perf "github.com/tagus-ros/tagus/msgs/performance_test_msgs"
	"github.com/tagus-ros/tagus/rosidl"
)

// messageType is one type of the benchmark, with its Go type hidden.
type messageType struct {
	ros       string // "irobot_interfaces_plugin/msg/Stamped1mb"
	size      int    // payload bytes, 0 for vectors
	vector    bool
	publish   func(n *tagus.Node, p *publication, spec *topology.Publisher) (ticker, error)
	subscribe func(n *tagus.Node, r *reception, spec *topology.Subscriber, private bool) (listener, error)
}

var messageTypes = map[string]*messageType{
	"stamped10b":   fixed(func(m *irobot.Stamped10b) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped50b":   fixed(func(m *irobot.Stamped50b) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped100b":  fixed(func(m *irobot.Stamped100b) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped250b":  fixed(func(m *irobot.Stamped250b) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped1kb":   fixed(func(m *irobot.Stamped1kb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped10kb":  fixed(func(m *irobot.Stamped10kb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped50kb":  fixed(func(m *irobot.Stamped50kb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped100kb": fixed(func(m *irobot.Stamped100kb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped250kb": fixed(func(m *irobot.Stamped250kb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped500kb": fixed(func(m *irobot.Stamped500kb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped600kb": fixed(func(m *irobot.Stamped600kb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped1mb":   fixed(func(m *irobot.Stamped1mb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped2mb":   fixed(func(m *irobot.Stamped2mb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped4mb":   fixed(func(m *irobot.Stamped4mb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped5mb":   fixed(func(m *irobot.Stamped5mb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped8mb":   fixed(func(m *irobot.Stamped8mb) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data[:] }),
	"stamped3_float32": fixed(func(m *irobot.Stamped3Float32) (*perf.PerformanceHeader, []byte) {
		return &m.Header, bytesOf(m.Data[:])
	}),
	"stamped4_float32": fixed(func(m *irobot.Stamped4Float32) (*perf.PerformanceHeader, []byte) {
		return &m.Header, bytesOf(m.Data[:])
	}),
	"stamped9_float32": fixed(func(m *irobot.Stamped9Float32) (*perf.PerformanceHeader, []byte) {
		return &m.Header, bytesOf(m.Data[:])
	}),
	"stamped12_float32": fixed(func(m *irobot.Stamped12Float32) (*perf.PerformanceHeader, []byte) {
		return &m.Header, bytesOf(m.Data[:])
	}),
	"stamped4_int32": fixed(func(m *irobot.Stamped4Int32) (*perf.PerformanceHeader, []byte) { return &m.Header, bytesOf(m.Data[:]) }),
	"stamped_int64":  fixed(func(m *irobot.StampedInt64) (*perf.PerformanceHeader, []byte) { return &m.Header, bytesOf(m.Data[:]) }),
	"stamped_vector": vector(func(m *irobot.StampedVector) (*perf.PerformanceHeader, []byte) { return &m.Header, m.Data },
		func(m *irobot.StampedVector, n int) {
			if cap(m.Data) < n {
				m.Data = make([]byte, n)
			}
			m.Data = m.Data[:n]
		}),
}

func fixed[T any, P rosidl.Message[T]](parts func(*T) (*perf.PerformanceHeader, []byte)) *messageType {
	t := vector[T, P](parts, nil)
	var zero *T = new(T)
	_, payload := parts(zero)
	t.size, t.vector = len(payload), false
	return t
}

func vector[T any, P rosidl.Message[T]](parts func(*T) (*perf.PerformanceHeader, []byte), resize func(*T, int)) *messageType {
	return &messageType{
		ros:    P(nil).ROSType().Name,
		vector: true,
		publish: func(n *tagus.Node, p *publication, spec *topology.Publisher) (ticker, error) {
			return newPublisher[T, P](n, p, spec, parts, resize)
		},
		subscribe: func(n *tagus.Node, r *reception, spec *topology.Subscriber, private bool) (listener, error) {
			return newSubscriber[T, P](n, r, spec, private, parts)
		},
	}
}

// bytesOf views numbers as the bytes they lie in.
func bytesOf[E int32 | int64 | float32](s []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// Types is the lookup that topologies are read with.
func Types(name string) (topology.Type, bool) {
	t, ok := messageTypes[name]
	if !ok {
		return topology.Type{}, false
	}
	return topology.Type{Vector: t.vector}, true
}

// TypeInfo is one line of the list of types.
type TypeInfo struct {
	Name, ROS string
	Size      int // payload bytes, 0 for vectors
	Vector    bool
}

// AllTypes lists the message types a topology can use, small ones first.
func AllTypes() []TypeInfo {
	var out []TypeInfo
	for name, t := range messageTypes {
		out = append(out, TypeInfo{name, t.ros, t.size, t.vector})
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Vector != b.Vector {
			return b.Vector
		}
		if a.Size != b.Size {
			return a.Size < b.Size
		}
		return a.Name < b.Name
	})
	return out
}

// PayloadSize is how many payload bytes a publisher's messages have.
func PayloadSize(p *topology.Publisher) int {
	if t := messageTypes[p.Type]; t != nil && !t.vector {
		return t.size
	}
	return p.Size
}
