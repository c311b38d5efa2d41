package shm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tagus-ros/tagus/graph"
	"github.com/tagus-ros/tagus/internal/memfd"
	"github.com/tagus-ros/tagus/internal/shm/control"
	"github.com/tagus-ros/tagus/internal/shm/folder"
)

// maxDefinition bounds the text of a definition that a peer can have mapped.
const maxDefinition = 16 << 20

// acceptAsk answers questions about the types that this process uses.
func (m *member) acceptAsk(l *link) {
	l.start(func(msg control.Message, fds []int) {
		closeFDs(fds)
		ask, ok := msg.(control.Ask)
		if !ok {
			l.end()
			return
		}
		text, ok := m.cfg.Define(ask.Name, ask.Hash)
		if !ok {
			l.say(control.Refuse{Code: "unknown-type", Text: "nothing here uses " + ask.Name + " " + ask.Hash})
			return
		}
		fd, err := textFile(text)
		if err != nil {
			l.say(control.Refuse{Code: "limit", Text: err.Error()})
			return
		}
		l.put(outgoing{msg: control.Definition{Size: uint64(len(text))}, fd: fd, own: true})
	}, func(error) { l.end() })
	l.say(control.HelloAck{ID: m.cfg.ID, Mono: monoNow(), Wall: wallNow()})
}

// textFile is a read-only descriptor of a memory file that holds text.
func textFile(text string) (fd int, err error) {
	f, err := memfd.Create("tagus-definition", int64(len(text)))
	if err != nil {
		return -1, err
	}
	defer f.Close()
	mem, err := memfd.Map(f.FD(), int64(len(text)), true)
	if err != nil {
		return -1, err
	}
	copy(mem, text)
	if err := memfd.Unmap(mem); err != nil {
		return -1, err
	}
	return f.ReadOnly()
}

// ask gets the definition of a type from a process that uses it.
func (m *member) ask(ctx context.Context, id graph.ID, name, hash string) (string, error) {
	conn, err := m.folder.Dial(ctx, id)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetRecvDeadline(time.Unix(1, 0)) })
	defer stop()
	for _, msg := range []control.Message{
		control.Hello{Purpose: control.PurposeAsk, ID: m.cfg.ID, Mono: monoNow(), Wall: wallNow()},
		control.Ask{Name: name, Hash: hash},
	} {
		b, err := control.Append(nil, msg)
		if err == nil {
			err = conn.Send(ctx, b)
		}
		if err != nil {
			return "", err
		}
	}
	text, err := readAnswer(conn)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return text, err
}

// readAnswer reads the greeting, then the answer.
func readAnswer(conn *folder.Conn) (string, error) {
	buf := make([]byte, control.MaxMessage)
	for {
		n, fds, err := conn.Recv(buf)
		if err != nil {
			return "", err
		}
		defer closeFDs(fds)
		msg, err := control.Parse(buf[:n])
		if err == nil {
			err = control.CheckFDs(msg, len(fds))
		}
		if err != nil {
			return "", err
		}
		switch msg := msg.(type) {
		case control.HelloAck, control.Unknown:
		case control.Refuse:
			return "", fmt.Errorf("the process refused: %s: %s", msg.Code, msg.Text)
		case control.Definition:
			return readText(fds[0], msg.Size)
		default:
			return "", errors.New("unexpected " + msg.Type().String())
		}
	}
}

func readText(fd int, size uint64) (string, error) {
	n, err := memfd.CheckReadOnly(fd, 0, maxDefinition)
	if err != nil {
		return "", err
	}
	if size > uint64(n) {
		return "", fmt.Errorf("definition of %d bytes in a file of %d", size, n)
	}
	mem, err := memfd.Map(fd, n, false)
	if err != nil {
		return "", err
	}
	defer memfd.Unmap(mem)
	return string(mem[:size]), nil
}
