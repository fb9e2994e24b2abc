package redis

import (
	"math"
	"strconv"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// toLua converts the first reply in b as Redis does, and returns the rest: nil
// is false, a status is a table with the field ok, an error one with err.
// Replies of miniredis are well formed.
func toLua(l *lua.LState, b []byte) (lua.LValue, []byte) {
	if len(b) == 0 {
		return lua.LFalse, nil
	}
	line, rest := cutLine(b)
	switch b[0] {
	case '+':
		return single(l, "ok", string(line[1:])), rest
	case '-':
		return single(l, "err", string(line[1:])), rest
	case ':':
		n, _ := strconv.ParseInt(string(line[1:]), 10, 64)
		return lua.LNumber(n), rest
	case '$':
		n, _ := strconv.Atoi(string(line[1:]))
		if n < 0 {
			return lua.LFalse, rest
		}
		return lua.LString(rest[:n]), rest[n+2:]
	case '*':
		n, _ := strconv.Atoi(string(line[1:]))
		if n < 0 {
			return lua.LFalse, rest
		}
		return arrayToLua(l, rest, n)
	}
	return lua.LString(line), rest
}

func arrayToLua(l *lua.LState, b []byte, n int) (*lua.LTable, []byte) {
	t := l.CreateTable(n, 0)
	for i := range n {
		var v lua.LValue
		v, b = toLua(l, b)
		t.RawSetInt(i+1, v)
	}
	return t, b
}

// maxNesting bounds the tables in a script's result, as Redis does.
const maxNesting = 1000

// writeLua writes a script's result as Redis does: a number loses its
// fraction, a table ends at its first nil.
func writeLua(c *server.Peer, v lua.LValue) { writeNested(c, v, 0) }

func writeNested(c *server.Peer, v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LBool:
		if v {
			c.WriteInt(1)
			return
		}
		c.WriteNull()
	case lua.LNumber:
		c.WriteInt(int(toInteger(float64(v))))
	case lua.LString:
		c.WriteBulk(string(v))
	case *lua.LTable:
		writeTable(c, v, depth+1)
	default:
		c.WriteNull()
	}
}

// toInteger drops a number's fraction. A number outside int64 is converted as
// by C on amd64, on every machine.
func toInteger(f float64) int64 {
	if f >= math.MinInt64 && f < math.MaxInt64 {
		return int64(f)
	}
	return math.MinInt64
}

func writeTable(c *server.Peer, t *lua.LTable, depth int) {
	if s, ok := t.RawGetString("err").(lua.LString); ok {
		c.WriteError(string(s))
		return
	}
	if s, ok := t.RawGetString("ok").(lua.LString); ok {
		c.WriteInline(string(s))
		return
	}
	if depth > maxNesting {
		c.WriteError("ERR reached lua stack limit")
		return
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	c.WriteLen(n)
	for i := range n {
		writeNested(c, t.RawGetInt(i+1), depth)
	}
}
