package wire

// QoS is how a network message travels: priority in bits 0-2, then flags.
type QoS uint8

// Priority is the order in which queued messages are sent, 0 first.
type Priority uint8

// The priorities of the protocol. PriorityControl is for declarations.
const (
	PriorityControl Priority = iota
	PriorityRealTime
	PriorityInteractiveHigh
	PriorityInteractiveLow
	PriorityDataHigh
	PriorityData
	PriorityDataLow
	PriorityBackground
)

// Flags and values of QoS.
const (
	QoSBlock   QoS = 0x08 // wait rather than drop when the link is congested
	QoSExpress QoS = 0x10 // do not wait for others to fill a batch

	DefaultQoS = QoS(PriorityData) // what an absent extension means
	ControlQoS = QoS(PriorityControl) | QoSBlock
)

// Priority extracts the priority.
func (q QoS) Priority() Priority { return Priority(q & 7) }

// Block reports whether the message may not be dropped.
func (q QoS) Block() bool { return q&QoSBlock != 0 }

// Express reports whether the message must not wait for others.
func (q QoS) Express() bool { return q&QoSExpress != 0 }

func (r *Reader) qos() QoS { return QoS(r.Bounded(max8, "qos extension")) }
