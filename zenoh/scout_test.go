package zenoh

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/tagus-ros/tagus/zenoh/internal/wire"
)

// The reference router answers on the loopback interface, and where it says it
// listens a session can be opened.
func TestScoutFindsReferenceRouter(t *testing.T) {
	group := fmt.Sprintf("224.0.0.224:%d", freePort(t))
	at := fmt.Sprintf("tcp/127.0.0.1:%d", freePort(t))
	p := startPeer(t).open(args{"mode": "router", "listen": []string{at}, "config": args{
		"scouting/multicast/enabled": true, "scouting/multicast/address": group, "scouting/multicast/interface": "lo", "scouting/multicast/listen": true,
	}})
	ctx, cancel := context.WithTimeout(bg, 10*time.Second)
	defer cancel()
	var found []Hello
	err := Scout(ctx, ScoutOptions{Group: group, Interface: "lo", First: 100 * time.Millisecond}, func(h Hello) bool {
		found = append(found, h)
		return false
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].ID.String() != p.zid || found[0].Role != Router || len(found[0].Locators) == 0 {
		t.Fatalf("%+v", found)
	}
	session(t, found[0].Locators[0])
}

// Garbage, other roles, other versions and repetitions are passed over; the end of the context ends it.
func TestScoutIgnoresWhatIsNotForUs(t *testing.T) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	id := NewID()
	go func() {
		buf := make([]byte, 2000)
		for {
			n, from, err := conn.ReadFromUDP(buf)
			if err != nil {
				return
			}
			var q wire.Scout
			r := wire.NewReader(buf[:n])
			if q.Decode(&r); r.Failed() || q.What != wire.RolesOf(wire.Router, wire.Peer) {
				t.Errorf("question % x", buf[:n])
			}
			for _, h := range []wire.Hello{
				{Version: 8, WhatAmI: wire.Router, ID: NewID()},
				{Version: 9, WhatAmI: wire.Client, ID: NewID()},
				{Version: 9, WhatAmI: wire.Peer, ID: id, Locators: []string{"tcp/127.0.0.1:1", "tcp/[::1]:2"}},
				{Version: 9, WhatAmI: wire.Peer, ID: id},
			} {
				_, _ = conn.WriteToUDP(h.Append(nil), from)
			}
			_, _ = conn.WriteToUDP([]byte{2, 9, 0xff}, from)
			_, _ = conn.WriteToUDP([]byte{}, from)
		}
	}()
	ctx, cancel := context.WithTimeout(bg, 150*time.Millisecond)
	defer cancel()
	var found []Hello
	err = Scout(ctx, ScoutOptions{Roles: []WhatAmI{Router, Peer}, Group: conn.LocalAddr().String(), Interface: "lo", First: 20 * time.Millisecond},
		func(h Hello) bool { found = append(found, h); return true })
	if err != nil || len(found) != 1 || found[0].ID != id || len(found[0].Locators) != 2 {
		t.Errorf("%+v, %v", found, err)
	}
}
