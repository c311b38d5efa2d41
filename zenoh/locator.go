package zenoh

import (
	"net"
	"strings"
)

// locator is a parsed endpoint: "tcp/host:port" or "tls/host:port".
type locator struct {
	proto, addr string
}

func parseLocator(s string) (locator, error) {
	bad := func(what string) (locator, error) { return locator{}, &LocatorError{s, what} }
	proto, rest, ok := strings.Cut(s, "/")
	if !ok {
		return bad("want PROTOCOL/ADDRESS, as in tcp/192.0.2.7:7447")
	}
	if addr, config, ok := strings.Cut(rest, "#"); ok {
		if config != "" {
			return bad("options after '#' are not supported: " + config)
		}
		rest = addr
	}
	rest, _, _ = strings.Cut(rest, "?") // metadata tells nothing that we use
	switch proto {
	case "tcp", "tls":
	case "udp", "quic", "ws", "unixsock-stream", "unixpipe", "serial", "vsock":
		return bad("protocol " + proto + " is not supported")
	default:
		return bad("unknown protocol")
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		return bad("want HOST:PORT after the protocol")
	}
	if host == "" || port == "" {
		return bad("host or port missing")
	}
	return locator{proto, rest}, nil
}
