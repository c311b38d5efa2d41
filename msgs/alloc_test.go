package msgs_test

import (
	"fmt"
	"testing"

	"github.com/tagus-ros/tagus/cdr"
	"github.com/tagus-ros/tagus/msgs/irobot_interfaces_plugin"
	"github.com/tagus-ros/tagus/msgs/sensor_msgs"
	"github.com/tagus-ros/tagus/msgs/std_msgs"
	"github.com/tagus-ros/tagus/rosidl"
)

// sample is one typical message.
type sample struct {
	typ message
	m   any
}

func header() std_msgs.Header { return std_msgs.Header{FrameID: "camera_optical_frame"} }

func image(n int) sample {
	return sample{erase[sensor_msgs.Image](), &sensor_msgs.Image{
		Header: header(), Height: 1, Width: uint32(n), Encoding: "mono8", Step: uint32(n), Data: make([]byte, n),
	}}
}

func cloud(n int) sample {
	m := &sensor_msgs.PointCloud2{Header: header(), Height: 1, Width: uint32(n / 16), PointStep: 16, Data: make([]byte, n)}
	for i, name := range []string{"x", "y", "z", "intensity"} {
		m.Fields = append(m.Fields, sensor_msgs.PointField{Name: name, Offset: uint32(4 * i), Datatype: sensor_msgs.PointFieldFloat32, Count: 1})
	}
	return sample{erase[sensor_msgs.PointCloud2](), m}
}

func joints(n int) sample {
	m := &sensor_msgs.JointState{Header: header(), Position: make([]float64, n), Velocity: make([]float64, n), Effort: make([]float64, n)}
	for i := range n {
		m.Name = append(m.Name, fmt.Sprintf("left_arm_joint_%d", i))
	}
	return sample{erase[sensor_msgs.JointState](), m}
}

func scan(n int) sample {
	return sample{erase[sensor_msgs.LaserScan](), &sensor_msgs.LaserScan{
		Header: header(), Ranges: make([]float32, n), Intensities: make([]float32, n),
	}}
}

func samples() []sample {
	return []sample{
		image(1 << 20), cloud(8 << 20), joints(40), scan(1081),
		{erase[irobot_interfaces_plugin.Stamped1mb](), new(irobot_interfaces_plugin.Stamped1mb)},
		{erase[irobot_interfaces_plugin.StampedInt64](), new(irobot_interfaces_plugin.StampedInt64)},
		{erase[std_msgs.String](), &std_msgs.String{Data: "hello"}},
	}
}

// In steady state nothing is allocated: not for sizes, encoding, decoding,
// reading in place, copying, comparing, resetting.
func TestNoAllocations(t *testing.T) {
	for _, s := range samples() {
		p := payload(s.typ, s.m)
		copied, lent, dst := s.typ.fresh(), s.typ.fresh(), s.typ.fresh()
		d, a := new(cdr.Decoder), new(cdr.Decoder)
		var e cdr.Encoder
		var own rosidl.Owned
		for name, fn := range map[string]func(){
			"size":   func() { s.typ.size(s.m) },
			"check":  func() { _ = s.typ.check(s.m) },
			"encode": func() { e.Reset(p[cdr.EncapsulationSize:]); s.typ.encode(&e, s.m) },
			"decode": func() { d.Reset(p); _ = s.typ.decode(d, copied) },
			"alias":  func() { a.Reset(p); _ = s.typ.alias(a, lent); s.typ.unalias(lent) },
			"copy":   func() { s.typ.copy(dst, s.m) },
			"equal":  func() { s.typ.equal(dst, s.m) },
			"recycle": func() {
				s.typ.recycle(dst, &own)
			},
		} {
			fn()
			fn()
			if n := testing.AllocsPerRun(20, fn); n != 0 {
				t.Errorf("%s: %s: %v allocations", s.typ.name(), name, n)
			}
		}
	}
}

// Messages that are new to a subscription find their strings in the decoder.
func TestStringsAreRemembered(t *testing.T) {
	s := joints(40)
	p := payload(s.typ, s.m)
	d := new(cdr.Decoder)
	names := make([]string, 40)
	read := func() {
		m := sensor_msgs.JointState{Name: names}
		clear(names)
		d.Reset(p)
		if err := rosidl.Of[sensor_msgs.JointState]().Alias(d, &m); err != nil {
			t.Fatal(err)
		}
	}
	read()
	read()
	read()
	// A few names may share a place in the memory of the decoder.
	if n := testing.AllocsPerRun(20, read); n > 25 {
		t.Errorf("%v allocations for 41 strings seen before", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.typ.name(), func(b *testing.B) {
			p := payload(s.typ, s.m)
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				e := cdr.NewEncoder(p[cdr.EncapsulationSize:])
				s.typ.encode(&e, s.m)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.typ.name(), func(b *testing.B) {
			p := payload(s.typ, s.m)
			m := s.typ.fresh()
			d := new(cdr.Decoder)
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				d.Reset(p)
				if err := s.typ.decode(d, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBareCopy is what the copy decoder is measured against.
func BenchmarkBareCopy(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.typ.name(), func(b *testing.B) {
			p := payload(s.typ, s.m)
			dst := make([]byte, len(p))
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				copy(dst, p)
			}
		})
	}
}

func BenchmarkAlias(b *testing.B) {
	for _, s := range samples() {
		b.Run(s.typ.name(), func(b *testing.B) {
			p := payload(s.typ, s.m)
			m := s.typ.fresh()
			d := new(cdr.Decoder)
			for b.Loop() {
				d.Reset(p)
				if err := s.typ.alias(d, m); err != nil {
					b.Fatal(err)
				}
				s.typ.unalias(m)
			}
		})
	}
}
