package redis

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	return []byte(noMaintNotifications)
}

const noMaintNotifications = "-ERR unknown subcommand 'maint_notifications'. Try CLIENT HELP.\r\n"

// GreetedBelow implements [sim.Greeted]: a subscription of go-redis keeps its mutex while it connects.
func (*Server) GreetedBelow() string { return "github.com/redis/go-redis/v9.(*PubSub)." }

// Greet implements [sim.Greeted].
func (*Server) Greet(b []byte) []byte {
	var out []byte
	for len(b) > 0 {
		args, n, err := ParseCommand(b)
		if err != nil || n == 0 || !greets(args) {
			return nil
		}
		b = b[n:]
		switch {
		case strings.EqualFold(args[0], "HELLO"):
			out = append(out, greeting(args[1] == "3", "standalone", "master")...)
		case strings.EqualFold(args[1], "maint_notifications"):
			out = append(out, noMaintNotifications...)
		default:
			out = append(out, "+OK\r\n"...)
		}
	}
	return out
}

// greets reports whether a command is one with which a client begins, and whose answer is the same on every connection.
func greets(args []string) bool {
	if len(args) < 2 {
		return false
	}
	switch strings.ToLower(args[0]) {
	case "hello":
		return args[1] == "2" || args[1] == "3"
	case "client":
		return slices.Contains([]string{"setname", "setinfo", "maint_notifications"}, strings.ToLower(args[1]))
	}
	return false
}
