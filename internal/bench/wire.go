package bench

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/bench/machine"
	"github.com/tagus-ros/tagus/internal/bench/record"
	"github.com/tagus-ros/tagus/internal/bench/report"
)

// Coordinator and worker speak in frames over the worker's standard input and output: a kind, a length, a body. Bodies are JSON (gob would
// lose the difference between zero and not counted), but for the tick that a worker sends while it is being watched, which is made
// without allocating.
type frameKind byte

const (
	frameSetup   frameKind = 'S' // to the worker: setup
	frameMeet    frameKind = 'M' // to the worker: meet; wait until all is matched
	frameGo      frameKind = 'G' // to the worker: start the timers
	frameStop    frameKind = 'E' // to the worker: stop them
	frameDrain   frameKind = 'D' // to the worker: drain; then report
	frameReady   frameKind = 'r' // from the worker: its endpoints are made; meeting
	frameMatched frameKind = 'm' // from the worker: all its endpoints are matched
	frameTick    frameKind = 't' // from the worker: tick
	frameStopped frameKind = 'e' // from the worker: published counts
	frameDone    frameKind = 'd' // from the worker: findings
	frameFailed  frameKind = 'f' // from the worker: failure
)

// frameLimit bounds what is read from the other side: the samples of a run of hours.
const frameLimit = 1 << 30

type setup struct {
	Index   int // of this worker's topology
	Options Options
}

// meeting lists the publishers of one process in the order of its plan.
type meeting struct{ Publishers []graph.GID }

// meet lists those of all processes.
type meet struct{ Publishers [][]graph.GID }

// ended says how many messages the publishers of one process sent, in the order of its plan.
type ended struct{ Counts []uint32 }

// drain says it of all processes.
type drain struct{ Counts [][]uint32 }

type failure struct{ Text string }

// tick is a worker's progress.
type tick struct{ Published, Received, Failed int64 }

const tickBytes = 24

func (t tick) put(b []byte) {
	binary.LittleEndian.PutUint64(b, uint64(t.Published))
	binary.LittleEndian.PutUint64(b[8:], uint64(t.Received))
	binary.LittleEndian.PutUint64(b[16:], uint64(t.Failed))
}

func readTick(b []byte) tick {
	if len(b) < tickBytes {
		return tick{}
	}
	return tick{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])), int64(binary.LittleEndian.Uint64(b[16:]))}
}

// findings is everything a worker measured.
type findings struct {
	Rows       []rowFindings
	Publishers []publisherFindings
	Usage      *machine.Usage // nil when the run ended before the steady state
	Published  int64          // in the steady state
	Received   int64
	OwnCalls   *int64
	Copied     *int64
	Started    int64 // monotonic nanoseconds of the first timer's start
	Stopped    int64
	Resources  []report.Resource
	Slow       []record.Slow
	SlowMore   int
	Calls      []slowCall
	GCEnds     []int64 // of collections during the run, monotonic nanoseconds
	Tracked    []trackEvent
	TrackMore  int
	Failed     int64
	FirstError string
	Foreign    int64 // messages of publishers that are not of this run
	Corrupt    int64 // messages whose payload was not what the publisher wrote
	Notes      []string
}

type rowFindings struct {
	Node, Topic string
	Size        int
	Take        string
	Data        record.Data
	GIDs        []graph.GID
	Paths       []uint64
	First, Last int64
	Lost        uint64 // as the subscription itself counts
}

type publisherFindings struct {
	Node, Topic string
	GID         graph.GID
	Ownership   string
	PeriodNanos int64
	Fallbacks   uint64 // loans that had to be copied after all
	Overruns    uint64 // timer calls left out
}

// writeFrame sends one frame.
func writeFrame(w io.Writer, kind frameKind, body any) error {
	var b bytes.Buffer
	b.Write(make([]byte, 5))
	if body != nil {
		if err := json.NewEncoder(&b).Encode(body); err != nil {
			return fmt.Errorf("encode frame %q: %w", kind, err)
		}
	}
	frame := b.Bytes()
	frame[0] = byte(kind)
	binary.LittleEndian.PutUint32(frame[1:], uint32(len(frame)-5))
	_, err := w.Write(frame)
	return err
}

// readFrame reads one frame.
func readFrame(r io.Reader) (frameKind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > frameLimit {
		return 0, nil, fmt.Errorf("a frame of %d bytes is over the limit of %d", n, frameLimit)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	return frameKind(head[0]), body, nil
}

func decode[T any](body []byte) (v T, err error) {
	err = json.Unmarshal(body, &v)
	return v, err
}
