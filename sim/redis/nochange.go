package redis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// unchanged answers a write that changes nothing, and reports whether it did. Redis does not count it as a write: a
// transaction that watches the key goes on. miniredis does. Within MULTI it still counts as one.
func (n *Server) unchanged(c *server.Peer, command string, args []string) bool {
	state := connStateOf(c)
	if state.inMulti || len(args) < 2 {
		return false
	}
	key := args[0]
	ask := func(command string, more ...string) string {
		return n.expiry.ask(state.db, append([]string{command, key}, more...)...)
	}
	has := func(member string) bool { return ask("SISMEMBER", member) == ":1" }
	is := func(kind string) bool { return ask("TYPE") == "+"+kind }
	switch {
	case command == "SADD" && !slices.ContainsFunc(args[1:], func(m string) bool { return !has(m) }),
		command == "SREM" && is("set") && !slices.ContainsFunc(args[1:], has),
		command == "ZADD" && len(args) == 3 && is("zset") && sameScore(ask("ZSCORE", args[2]), args[1]):
		c.WriteInt(0)
	case command == "LREM" && len(args) == 3 && isNumber(args[1]) && is("list") && !listed(ask("LRANGE", "0", "-1"),
		args[2]):
		c.WriteInt(0)
	case command == "ZINCRBY" && len(args) == 3 && is("zset") && isZero(args[1]) && ask("ZSCORE", args[2]) != "$-1":
		n.expiry.pass(c, "ZSCORE", key, args[2])
	case command == "SETBIT" && len(args) == 3 && is("string") && sameBit(ask, args[1], args[2]):
		n.expiry.pass(c, "GETBIT", key, args[1])
	default:
		return false
	}
	return true
}

// sameScore reports whether the reply to ZSCORE is a score.
func sameScore(reply, score string) bool {
	_, text, found := strings.Cut(reply, "\r\n")
	is, err := strconv.ParseFloat(text, 64)
	wanted, err2 := strconv.ParseFloat(score, 64)
	return found && err == nil && err2 == nil && is == wanted
}

// listed reports whether an element is in the reply to LRANGE.
func listed(reply, element string) bool {
	return strings.Contains(reply+"\r\n", "\r\n$"+strconv.Itoa(len(element))+"\r\n"+element+"\r\n")
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func isZero(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && f == 0
}

// sameBit reports whether a bit that is within the text has a value.
func sameBit(ask func(string, ...string) string, offset, value string) bool {
	at, err := strconv.Atoi(offset)
	length, err2 := strconv.Atoi(strings.TrimPrefix(ask("STRLEN"), ":"))
	return err == nil && err2 == nil && at >= 0 && at < 8*length && ask("GETBIT", offset) == ":"+value
}
