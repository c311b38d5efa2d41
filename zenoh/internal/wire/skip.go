package wire

// SkipNetwork reads past one network message.
func SkipNetwork(r *Reader) {
	switch MessageID(r.Peek()) {
	case IDInterest:
		var m Interest
		m.Decode(r)
	case IDResponseFinal:
		var m ResponseFinal
		m.Decode(r)
	case IDResponse:
		var m Response
		m.Decode(r)
	case IDRequest:
		var m Request
		m.Decode(r)
	case IDPush:
		var m Push
		m.Decode(r)
	case IDDeclare:
		var m Declare
		m.Decode(r)
	case IDOAM:
		var m OAM
		m.Decode(r)
	default:
		r.Fail("unknown network message")
	}
}
