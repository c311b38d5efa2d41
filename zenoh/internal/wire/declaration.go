package wire

import "math"

// DeclarationKind is what a declaration declares or takes back.
type DeclarationKind uint8

// The kinds, as they stand in a declaration's header.
const (
	DeclareKey DeclarationKind = iota
	UndeclareKey
	DeclareSubscriber
	UndeclareSubscriber
	DeclareQueryable
	UndeclareQueryable
	DeclareToken
	UndeclareToken
	DeclareFinal DeclarationKind = 0x1a
)

// Declaration is one change of what its sender has. Which fields count depends on Kind.
type Declaration struct {
	Kind DeclarationKind
	ID   uint32 // of the key or entity; keys have 16 bits, not 0
	// Key of the entity. Undeclarations may have one, by which the receiver
	// finds the entity if it does not know ID; else it is null.
	Key      WireExpr
	Complete bool   // of a queryable: it has everything that its key covers
	Distance uint16 // of a queryable, in hops
}

const extQueryableInfo = 0x01 | extZ64

func (d *Declaration) append(dst []byte) []byte {
	e := exts{len(dst)}
	switch d.Kind {
	case DeclareFinal:
		return append(dst, byte(d.Kind))
	case DeclareKey:
		// The mapping flag has no place here: an alias builds on the sender's own.
		dst = AppendUint(append(dst, byte(d.Kind)|d.Key.flags()&flagN), uint64(d.ID))
		return d.Key.append(dst)
	case UndeclareKey, UndeclareSubscriber, UndeclareQueryable, UndeclareToken:
		dst = AppendUint(append(dst, byte(d.Kind)), uint64(d.ID))
		if !d.Key.IsNull() {
			dst = e.wireExpr(dst, &d.Key)
		}
		return dst
	}
	dst = AppendUint(append(dst, byte(d.Kind)|d.Key.flags()), uint64(d.ID))
	dst = d.Key.append(dst)
	if d.Kind == DeclareQueryable && (d.Complete || d.Distance != 0) {
		info := uint64(d.Distance) << 8
		if d.Complete {
			info |= 1
		}
		dst = AppendUint(e.add(dst, extQueryableInfo), info)
	}
	return dst
}

func (d *Declaration) decode(r *Reader) {
	h := r.Byte("declaration")
	*d = Declaration{Kind: DeclarationKind(h & idMask)}
	switch d.Kind {
	case DeclareFinal:
		skipExts(r, h)
	case DeclareKey:
		d.ID = uint32(r.Bounded(math.MaxUint16, "declaration: key id"))
		d.Key.decode(r, h|flagM)
		skipExts(r, h)
	case UndeclareKey:
		d.ID = uint32(r.Bounded(math.MaxUint16, "declaration: key id"))
		skipExts(r, h)
	case DeclareSubscriber, DeclareQueryable, DeclareToken:
		d.ID = r.Uint32("declaration: id")
		d.Key.decode(r, h)
		for h&flagZ != 0 && !r.Failed() {
			h = r.Byte("declaration: extension")
			if d.Kind == DeclareQueryable && h&^flagZ == extQueryableInfo {
				info := r.Uint("declaration: queryable info")
				d.Complete, d.Distance = info&1 != 0, uint16(info>>8)
			} else {
				skipExt(r, h)
			}
		}
	case UndeclareSubscriber, UndeclareQueryable, UndeclareToken:
		d.ID = r.Uint32("declaration: id")
		for h&flagZ != 0 && !r.Failed() {
			h = r.Byte("declaration: extension")
			if h&^flagZ == extWireExpr {
				d.Key.decodeExt(r)
			} else {
				skipExt(r, h)
			}
		}
	default:
		r.Fail("declaration: unknown kind")
	}
}
