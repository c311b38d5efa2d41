package zenoh

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// Hello is what somebody who was found says of himself.
type Hello struct {
	ID       ID
	Role     WhatAmI
	Locators []string // where he listens; of use for Config.Connect
	From     net.Addr // where the answer came from
}

// ScoutOptions are options of Scout; every zero field stands for the value in its comment.
type ScoutOptions struct {
	Roles     []WhatAmI     // who is looked for; Router
	Group     string        // multicast address and port; "224.0.0.224:7446"
	Interface string        // name of the interface to ask on; the system's choice
	First     time.Duration // pause before the question is repeated, which doubles up to 8 s; 1 s
}

// Scout asks by multicast who is there and calls found for each answer, once
// for each session that answers, until ctx ends (then it returns nil) or found
// returns false. The errors are those of the network.
func Scout(ctx context.Context, o ScoutOptions, found func(Hello) bool) error {
	if len(o.Roles) == 0 {
		o.Roles = []WhatAmI{Router}
	}
	if o.Group == "" {
		o.Group = "224.0.0.224:7446"
	}
	if o.First <= 0 {
		o.First = time.Second
	}
	group, err := net.ResolveUDPAddr("udp4", o.Group)
	if err != nil {
		return err
	}
	local := &net.UDPAddr{}
	if o.Interface != "" {
		if local.IP, err = interfaceAddress(o.Interface); err != nil {
			return err
		}
	}
	// Bound to an interface's address the question leaves by that interface.
	conn, err := net.ListenUDP("udp4", local)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := multicastOn(conn, local.IP); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	question := wire.Scout{Version: wire.Version, What: wire.RolesOf(o.Roles...)}
	buf := make([]byte, 65536)
	seen := map[ID]bool{}
	for pause := o.First; ; pause = min(2*pause, 8*time.Second) {
		if _, err := conn.WriteToUDP(question.Append(nil), group); err != nil {
			return err
		}
		again := time.Now().Add(pause)
		for {
			if ctx.Err() != nil {
				return nil
			}
			_ = conn.SetReadDeadline(again)
			if ctx.Err() != nil { // it may have ended before the deadline was set
				return nil
			}
			n, from, err := conn.ReadFromUDP(buf)
			if err != nil {
				var timeout net.Error
				if errors.As(err, &timeout) && timeout.Timeout() {
					break
				}
				return err
			}
			r := wire.NewReader(buf[:n])
			var m wire.Hello
			if m.Decode(&r); r.Failed() || m.Version != wire.Version || !question.What.Has(m.WhatAmI) || seen[m.ID] || len(seen) >= maxSeen {
				continue // anybody may send anything here
			}
			seen[m.ID] = true
			if !found(Hello{m.ID, m.WhatAmI, m.Locators, from}) {
				return nil
			}
		}
	}
}

// maxSeen bounds the answers of one Scout.
const maxSeen = 4096

func interfaceAddress(name string) (net.IP, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	addrs, err := i.Addrs()
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil {
			return n.IP.To4(), nil
		}
	}
	return nil, &net.AddrError{Err: "interface has no IPv4 address", Addr: name}
}
