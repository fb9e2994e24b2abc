package sim

import (
	"bufio"
	"math/rand/v2"
	"strings"

	luajson "github.com/alicebob/miniredis/v2/gopher-json"
	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// open builds the state: the libraries that Redis gives a script, the redis
// table, and globals that a script can neither make nor miss silently.
func (e *luaEngine) open() {
	l := lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 1024, RegistryMaxSize: 256 * 1024, CallStackSize: 64})
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
		lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	e.state = l
	e.nested = server.NewPeer(bufio.NewWriter(&e.reply))
	e.nested.Ctx = nestedContext()
	e.openRedis(l)
	e.openMath(l)
	openJSON(l)
	guardGlobals(l)
}

func (e *luaEngine) openRedis(l *lua.LState) {
	t := l.NewTable()
	l.SetFuncs(t, map[string]lua.LGFunction{
		"call":               func(l *lua.LState) int { return e.call(l, raise) },
		"pcall":              func(l *lua.LState) int { return e.call(l, returnError) },
		"error_reply":        errorReply,
		"status_reply":       func(l *lua.LState) int { l.Push(single(l, "ok", l.CheckString(1))); return 1 },
		"sha1hex":            sha1Hex,
		"log":                func(*lua.LState) int { return 0 },
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
		"set_repl":           func(*lua.LState) int { return 0 },
		"setresp":            setResp,
	})
	for i, level := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.RawSetString(level, lua.LNumber(i))
	}
	l.SetGlobal("redis", t)
	l.SetGlobal("server", t)
}

// openMath replaces math.random, which draws from Go's global source.
func (e *luaEngine) openMath(l *lua.LState) {
	l.SetFuncs(l.GetGlobal("math").(*lua.LTable), map[string]lua.LGFunction{
		"random": func(l *lua.LState) int {
			low, high := int64(1), int64(0)
			switch l.GetTop() {
			case 0:
				l.Push(lua.LNumber(e.random.Float64()))
				return 1
			case 1:
				high = l.CheckInt64(1)
			default:
				low, high = l.CheckInt64(1), l.CheckInt64(2)
			}
			if high < low {
				l.RaiseError("bad argument to 'random' (interval is empty)")
			}
			l.Push(lua.LNumber(low + e.random.Int64N(high-low+1)))
			return 1
		},
		"randomseed": func(l *lua.LState) int {
			e.random = rand.New(rand.NewPCG(uint64(l.CheckInt64(1)), 0))
			return 0
		},
	})
}

func openJSON(l *lua.LState) {
	l.Push(l.NewFunction(luajson.Loader))
	l.Call(0, 1)
	l.SetGlobal("cjson", l.Get(-1))
	l.SetTop(0)
}

// guardGlobals makes a script fail that uses a global which is not there, or
// makes one, as Redis does: state must not pass from one script to the next.
func guardGlobals(l *lua.LState) {
	for _, name := range []string{"print", "dofile", "loadfile", "require", "module", "newproxy"} {
		l.SetGlobal(name, lua.LNil)
	}
	meta := l.NewTable()
	l.SetFuncs(meta, map[string]lua.LGFunction{
		"__newindex": func(l *lua.LState) int {
			l.RaiseError("Script attempted to create global variable '%s'", l.Get(2).String())
			return 0
		},
		"__index": func(l *lua.LState) int {
			l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
			return 0
		},
	})
	l.SetMetatable(l.G.Global, meta)
}

func errorReply(l *lua.LState) int {
	message := strings.TrimPrefix(l.CheckString(1), "-")
	if !strings.Contains(message, " ") {
		message = "ERR " + message
	}
	l.Push(single(l, "err", message))
	return 1
}

func sha1Hex(l *lua.LState) int {
	l.Push(lua.LString(shaOf(l.CheckString(1))))
	return 1
}

func single(l *lua.LState, field, value string) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString(field, lua.LString(value))
	return t
}

// setResp accepts RESP2, the only protocol that scripts get here.
func setResp(l *lua.LState) int {
	if l.CheckInt(1) != 2 {
		l.RaiseError("this world's scripts speak RESP2 only")
	}
	return 0
}
