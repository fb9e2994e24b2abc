package redis

import (
	"bytes"
	"fmt"
	"regexp"
)

// libName is the part of CLIENT SETINFO before the name of the client's library.
var libName = []byte("\r\n$8\r\nLIB-NAME\r\n")

// goVersion matches the version of Go in go-redis' library name, such as
// go-redis(suffix,go1.26.8).
var goVersion = regexp.MustCompile(`^(go-redis\(.*?,)(?:go\d|devel).*\)$`)

// Canonical implements [sim.Canonical]. A stock go-redis client sends the
// server the exact version of Go that it was built with: a fact of the machine
// and not of the run, on which the trace must not depend. It is shortened
// before it is sent, so that the number of bytes does not depend on it either:
// a link with little bandwidth takes as long for every version.
func (*Server) Canonical(b []byte) []byte { return canonical(b) }

func canonical(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for {
		before, after, found := bytes.Cut(b, libName)
		out = append(out, before...)
		if !found {
			return out
		}
		out, b = append(out, libName...), after
		line, rest := cutLine(after)
		if n, ok := lengthIn(line); ok && line[0] == '$' && 0 <= n && n <= len(rest) {
			name := goVersion.ReplaceAll(rest[:n], []byte("${1}go)"))
			out, b = fmt.Appendf(out, "$%d\r\n%s", len(name), name), rest[n:]
		}
	}
}

// maintNotifications is how go-redis begins its request for maintenance notifications.
var maintNotifications = []byte("*5\r\n$6\r\nclient\r\n$19\r\nmaint_notifications\r\n")

// Answer implements [sim.Immediate]. go-redis asks for maintenance notifications on each new connection, unless its
// options say otherwise, and keeps a mutex until the answer arrives. A server of Redis has none, and refuses.
func (*Server) Answer(b []byte) []byte {
	if !bytes.HasPrefix(b, maintNotifications) {
		return nil
	}
	return []byte("-ERR unknown subcommand 'maint_notifications'. Try CLIENT HELP.\r\n")
}
