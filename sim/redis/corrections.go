package redis

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// version is the version of Redis with which the servers are compared, and which they say that they have.
const version = "7.0.15"

// correct runs some commands as Redis does where miniredis has another reply, and reports whether it did.
func (n *Server) correct(c *server.Peer, command string, args []string) bool {
	if n.expiry.passing {
		return false
	}
	decided := func(reply func()) {
		if connStateOf(c).inMulti {
			queueAsScript(c, n.data, command, args)
		} else {
			reply()
		}
	}
	switch {
	case slices.ContainsFunc(databasesIn(command, args), beyond):
		decided(func() { c.WriteError("ERR DB index is out of range") })
	// not all channels
	case command == "PUBSUB" && len(args) == 2 && strings.EqualFold(args[0], "CHANNELS") && args[1] == "":
		decided(func() { c.WriteLen(0) })
	case command == "SETRANGE" && len(args) == 3 && args[2] == "" && isIndex(args[1]): // miniredis creates the key
		n.expiry.pass(c, "STRLEN", args[0])
	// nothing, also where both are before the text
	case command == "GETRANGE" && len(args) == 3 && reversed(args[1], args[2]):
		n.expiry.pass(c, "GETRANGE", args[0], "1", "0")
	case command == "CLIENT" && remembersNothing(args):
		decided(c.WriteOK)
	case command == "ROLE" && len(args) == 0:
		decided(func() { c.WriteRaw(string(n.roleReply())) })
	case command == "INFO" && len(args) == 1 && strings.EqualFold(args[0], "replication"):
		decided(func() { c.WriteBulk(n.info()) })
	case command == "INFO" && n.cluster != nil &&
		(len(args) == 0 || len(args) == 1 && strings.EqualFold(args[0], "cluster")):
		decided(func() { c.WriteBulk(n.cluster.Info()) })
	default:
		return n.unchanged(c, command, args)
	}
	return true
}

// remembersNothing is CLIENT TRACKING in a form in which the server remembers no key: before CLIENT CACHING YES, which
// it does not have, or never.
func remembersNothing(args []string) bool {
	words := strings.Split(strings.ToUpper(strings.Join(args, " ")), " ")
	switch {
	case len(words) < 2 || words[0] != "TRACKING":
		return false
	case words[1] == "OFF":
		return len(words) == 2
	}
	left := slices.DeleteFunc(words[2:], func(w string) bool { return w == "NOLOOP" })
	return words[1] == "ON" && len(left) > 0 && !slices.ContainsFunc(left, func(w string) bool { return w != "OPTIN" })
}

func databasesIn(command string, args []string) []string {
	switch {
	case command == "SELECT" && len(args) == 1, command == "SWAPDB" && len(args) == 2:
		return args
	case command == "MOVE" && len(args) == 2:
		return args[1:]
	case command == "COPY" && len(args) > 3 && strings.EqualFold(args[2], "DB"):
		return args[3:4]
	}
	return nil
}

func beyond(database string) bool {
	n, err := strconv.Atoi(database)
	return err == nil && n >= databases
}

func isIndex(s string) bool {
	i, err := strconv.Atoi(s)
	return err == nil && i >= 0
}

// reversed reports whether both ends of a range count from the end of a text, and the first comes after the second.
func reversed(start, end string) bool {
	s, err := strconv.Atoi(start)
	e, err2 := strconv.Atoi(end)
	return err == nil && err2 == nil && s < 0 && e < 0 && s > e
}

func (n *Server) corrected(c *server.Peer, args []string, reply []byte) []byte {
	switch {
	case strings.EqualFold(args[0], "HELLO") && len(reply) > 0 && reply[0] != '-':
		return n.hello(c)
	case c.Resp3 && string(reply) == "*-1\r\n":
		return []byte("_\r\n")
	case c.Resp3 && (strings.EqualFold(args[0], "XREAD") || strings.EqualFold(args[0], "XREADGROUP")):
		return streamsAsMap(reply)
	}
	return reply
}

func (n *Server) hello(c *server.Peer) []byte {
	role := "master"
	if n.repl.leader != nil {
		role = "replica"
	}
	if n.cluster != nil {
		return greeting(c.Resp3, "cluster", role)
	}
	return greeting(c.Resp3, "standalone", role)
}

// greeting is the reply to HELLO of a server with a mode and a role.
func greeting(resp3 bool, mode, role string) []byte {
	head, proto := "*14", 2
	if resp3 {
		head, proto = "%7", 3
	}
	b := []byte(head + "\r\n")
	for _, s := range []string{"server", "redis", "version", version, "proto", "", "id", "", "mode", mode, "role",
		role, "modules"} {
		if s != "" {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(s), s)
		}
		switch s {
		case "proto":
			b = fmt.Appendf(b, ":%d\r\n", proto)
		case "id":
			b = append(b, ":42\r\n"...)
		}
	}
	return append(b, "*0\r\n"...)
}

// streamsAsMap turns an array of pairs, each of a stream's name and its entries, into the map that RESP3 has.
func streamsAsMap(reply []byte) []byte {
	line, rest := cutLine(reply)
	n, ok := lengthIn(line)
	if !ok || n <= 0 || line[0] != '*' {
		return reply
	}
	out := fmt.Appendf(nil, "%%%d\r\n", n)
	for range n {
		size := replyLength(rest)
		out = append(out, bytes.TrimPrefix(rest[:size], []byte("*2\r\n"))...)
		rest = rest[size:]
	}
	return out
}
