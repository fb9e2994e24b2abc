package sim

import (
	"fmt"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// toLua converts a command's reply as Redis does: nil is false, a status is a
// table with the field ok.
func toLua(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case nil:
		return lua.LFalse
	case int:
		return lua.LNumber(v)
	case int64:
		return lua.LNumber(v)
	case []byte:
		return lua.LString(v)
	case string:
		return lua.LString(v)
	case server.Simple:
		return single(l, "ok", string(v))
	case []any:
		t := l.CreateTable(len(v), 0)
		for i, x := range v {
			t.RawSetInt(i+1, toLua(l, x))
		}
		return t
	}
	return lua.LString(fmt.Sprint(v))
}

// writeLua converts a script's result as Redis does: a number loses its
// fraction, a table ends at its first nil.
func writeLua(l *lua.LState, c *server.Peer, v lua.LValue) {
	switch v := v.(type) {
	case lua.LBool:
		if v {
			c.WriteInt(1)
			return
		}
		c.WriteNull()
	case lua.LNumber:
		c.WriteInt(int(v))
	case lua.LString:
		c.WriteBulk(string(v))
	case *lua.LTable:
		writeTable(l, c, v)
	default:
		c.WriteNull()
	}
}

func writeTable(l *lua.LState, c *server.Peer, t *lua.LTable) {
	if s := t.RawGetString("err"); s != lua.LNil {
		c.WriteError(s.String())
		return
	}
	if s := t.RawGetString("ok"); s != lua.LNil {
		c.WriteInline(s.String())
		return
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	c.WriteLen(n)
	for i := range n {
		writeLua(l, c, t.RawGetInt(i+1))
	}
}

