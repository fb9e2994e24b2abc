package redis

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"

	"locksim/sim"
)

// luaVM is a Lua state with the environment that Redis has. Nothing passes from
// one script to the next: globals and libraries are read-only, math.random is
// seeded anew, KEYS and ARGV are set again. So several nodes and runs can use a
// state one after another.
type luaVM struct {
	l         *lua.LState
	globals   *lua.LTable   // read through the scripts' environment
	keys      *lua.LTable   // KEYS
	argv      *lua.LTable   // ARGV
	protected []*lua.LTable // proxies of the environment and the libraries: empty tables
	functions map[*lua.FunctionProto]*lua.LFunction
	random    *rand.PCG
	budget    instructions
	damaged   bool         // a script has damaged the state
	commands  *luaEngine   // the engine of the running script
	db        int          // the database in which the script began
	nested    *server.Peer // the connection of a script's commands
	reply     bytes.Buffer
	statuses  []*lua.LTable // what a script has got as status replies; no later one can reach them
	given     int           // how many of them the running script has
}

// maxInstructions bounds one script. They take some 20 ms, or 2 s if every step
// raises an error. Redis lets a script run forever and replies BUSY to other
// clients. A lock's script has a few dozen instructions.
const maxInstructions = 2_000_000

// instructions is a context that ends after a number of calls of Done: Lua
// calls it before every instruction. Coroutines are not counted.
type instructions struct {
	left int
	// exhausted is a closed channel. It is created in the bubble that uses it.
	exhausted chan struct{}
}

var _ context.Context = (*instructions)(nil)

// Done counts an instruction.
func (i *instructions) Done() <-chan struct{} {
	if i.left--; i.left < 0 {
		if i.exhausted == nil {
			i.exhausted = make(chan struct{})
			close(i.exhausted)
		}
		return i.exhausted
	}
	return nil
}

func (i *instructions) Err() error {
	if i.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// Deadline reports none.
func (i *instructions) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value is always nil.
func (i *instructions) Value(any) any { return nil }

// newLuaVM builds a state.
func newLuaVM() *luaVM {
	l := lua.NewState(lua.Options{
		SkipOpenLibs: true, CallStackSize: 200, MinimizeStackMemory: true,
		RegistrySize: 256, RegistryGrowStep: 1024, RegistryMaxSize: 64 << 10,
	})
	v := &luaVM{l: l, functions: map[*lua.FunctionProto]*lua.LFunction{}, random: rand.NewPCG(0, 0)}
	v.globals = l.G.Global
	v.nested = server.NewPeer(bufio.NewWriterSize(&v.reply, 512))
	openLibraries(l)
	v.openRedis()
	v.openMath()
	openJSON(l)
	v.openOS()
	v.keys, v.argv = l.NewTable(), l.NewTable()
	v.globals.RawSetString("KEYS", v.keys)
	v.globals.RawSetString("ARGV", v.argv)
	v.protect()
	l.SetContext(&v.budget)
	return v
}

func openLibraries(l *lua.LState) {
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}, {lua.StringLibName, lua.OpenString},
		{lua.MathLibName, lua.OpenMath}, {lua.CoroutineLibName, lua.OpenCoroutine},
	} {
		l.Push(l.NewFunction(lib.open))
		l.Push(lua.LString(lib.name))
		l.Call(1, 0)
	}
	for _, name := range []string{
		"print", "dofile", "loadfile", "require", "module", "newproxy", "getfenv", "setfenv", "_printregs",
		"_GOPHER_LUA_VERSION",
	} {
		l.G.Global.RawSetString(name, lua.LNil)
	}
	// The original runs the garbage collector of the whole simulator.
	l.SetGlobal("collectgarbage", l.NewFunction(func(l *lua.LState) int { l.Push(lua.LNumber(0)); return 1 }))
	openPcall(l)
}

// openPcall makes pcall return the text of a command's error, as Redis 7 does.
// Lua's own returns the raised value, a table with the field err.
func openPcall(l *lua.LState) {
	own := l.GetGlobal("pcall")
	l.SetGlobal("pcall", l.NewFunction(func(l *lua.LState) int {
		n := l.GetTop()
		l.Insert(own, 1)
		l.Call(n, lua.MultRet)
		if t, ok := l.Get(2).(*lua.LTable); ok && l.Get(1) == lua.LFalse {
			if text, ok := t.RawGetString("err").(lua.LString); ok {
				l.Replace(2, text)
			}
		}
		return l.GetTop()
	}))
}

func (v *luaVM) openRedis() {
	t := v.l.NewTable()
	v.l.SetFuncs(t, map[string]lua.LGFunction{
		"call":               func(l *lua.LState) int { return v.call(l, raise) },
		"pcall":              func(l *lua.LState) int { return v.call(l, returnError) },
		"error_reply":        errorReply,
		"status_reply":       statusReply,
		"sha1hex":            func(l *lua.LState) int { l.Push(lua.LString(shaOf(l.CheckString(1)))); return 1 },
		"log":                func(*lua.LState) int { return 0 },
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
		"set_repl":           func(*lua.LState) int { return 0 },
		"setresp":            setResp,
	})
	for i, level := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.RawSetString(level, lua.LNumber(i))
	}
	for name, bits := range map[string]int{"REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2, "REPL_REPLICA": 2,
		"REPL_ALL": 3} {
		t.RawSetString(name, lua.LNumber(bits))
	}
	v.l.SetGlobal("redis", t)
	v.l.SetGlobal("server", t)
}

// openMath replaces math.random, which draws from Go's global source.
func (v *luaVM) openMath() {
	random := rand.New(v.random)
	v.l.SetFuncs(v.l.GetGlobal("math").(*lua.LTable), map[string]lua.LGFunction{
		"random": func(l *lua.LState) int {
			low, high := int64(1), int64(0)
			switch l.GetTop() {
			case 0:
				l.Push(lua.LNumber(random.Float64()))
				return 1
			case 1:
				high = l.CheckInt64(1)
			default:
				low, high = l.CheckInt64(1), l.CheckInt64(2)
			}
			if high < low || high-low < 0 {
				l.RaiseError("bad argument to 'random' (interval is empty)")
			}
			l.Push(lua.LNumber(low + int64(random.Uint64N(uint64(high-low)+1))))
			return 1
		},
		"randomseed": func(l *lua.LState) int {
			v.random.Seed(uint64(l.CheckInt64(1)), 0)
			return 0
		},
	})
}

// openOS adds os.clock, the only function of os in Redis: the node's time.
func (v *luaVM) openOS() {
	t := v.l.NewTable()
	v.l.SetFuncs(t, map[string]lua.LGFunction{"clock": func(l *lua.LState) int {
		l.Push(lua.LNumber(v.commands.server.node.Monotonic().Seconds()))
		return 1
	}})
	v.l.SetGlobal("os", t)
}

// protect puts empty proxy tables before the globals and the libraries. Scripts
// read through them and cannot write.
func (v *luaVM) protect() {
	for _, name := range []string{"string", "table", "math", "coroutine", "redis", "cjson", "os"} {
		v.globals.RawSetString(name, v.readOnly(v.globals.RawGetString(name)))
	}
	v.globals.RawSetString("server", v.globals.RawGetString("redis"))
	unknown := v.l.NewTable()
	unknown.RawSetString("__index", v.l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
		return 0
	}))
	v.globals.Metatable = unknown
	env := v.readOnly(v.globals)
	v.globals.RawSetString("_G", env)
	v.l.Env = env
	v.protectStrings()
}

func (v *luaVM) readOnly(of lua.LValue) *lua.LTable {
	meta := v.l.NewTable()
	meta.RawSetString("__index", of)
	meta.RawSetString("__newindex", v.l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Attempt to modify a readonly table: Script attempted to create global variable or field '%s'",
			l.Get(2).String())
		return 0
	}))
	meta.RawSetString("__metatable", lua.LFalse)
	t := v.l.NewTable()
	t.Metatable = meta
	v.protected = append(v.protected, t)
	return t
}

// protectStrings replaces the metatable of strings, which is the library
// itself.
func (v *luaVM) protectStrings() {
	meta := v.l.NewTable()
	meta.RawSetString("__index", v.globals.RawGetString("string"))
	meta.RawSetString("__metatable", lua.LFalse)
	v.l.SetMetatable(lua.LString(""), meta)
}

// dirty reports whether a script has damaged the state, or has put something
// into a proxy, as rawset can.
func (v *luaVM) dirty() bool {
	if v.damaged {
		return true
	}
	for _, t := range v.protected {
		if k, _ := t.Next(lua.LNil); k != lua.LNil {
			return true
		}
	}
	return false
}

// run runs a script and writes its reply. It returns a [*sim.LimitError] if the
// script was stopped. The miniredis lock is held.
func (v *luaVM) run(c *server.Peer, proto *lua.FunctionProto, keys, argv []string, db int) error {
	v.begin(keys, argv, db)
	l := v.l
	defer l.SetTop(0)
	l.Push(v.function(proto))
	if err := l.PCall(0, 1, nil); err != nil {
		if api, ok := errors.AsType[*lua.ApiError](err); ok && api.Type == lua.ApiErrorPanic {
			v.damaged = true // a Go panic has left it in the middle of a call
		}
		if v.budget.left < 0 {
			v.damaged = true
			c.WriteError("ERR the script was stopped: it does not end")
			return &sim.LimitError{What: "instructions of one script", Limit: strconv.Itoa(maxInstructions),
				At: v.commands.server.node.Virtual()}
		}
		c.WriteError(scriptError(err))
		return nil
	}
	writeLua(c, l.Get(-1))
	return nil
}

// begin prepares the state for a script.
func (v *luaVM) begin(keys, argv []string, db int) {
	v.random.Seed(0, 0) // Redis also seeds math.random anew for every script
	v.budget.left = maxInstructions
	v.nested.Ctx = renewNested(v.nested.Ctx)
	v.given = 0
	v.db = db
	if db != 0 {
		v.dispatch("SELECT", strconv.Itoa(db))
	}
	v.keys = v.filled("KEYS", v.keys, keys)
	v.argv = v.filled("ARGV", v.argv, argv)
}

// function is a script as a function of this state.
func (v *luaVM) function(proto *lua.FunctionProto) *lua.LFunction {
	f := v.functions[proto]
	if f == nil {
		if len(v.functions) >= maxCompiled {
			clear(v.functions)
		}
		f = v.l.NewFunctionFromProto(proto)
		v.functions[proto] = f
	}
	return f
}

// filled is a table of a name with exactly these values: that of the last
// script, unless the script has added something to it.
func (v *luaVM) filled(name string, t *lua.LTable, values []string) *lua.LTable {
	for t.Len() > len(values) {
		t.Remove(t.Len())
	}
	for i, value := range values {
		if before, ok := t.RawGetInt(i + 1).(lua.LString); !ok || string(before) != value {
			t.RawSetInt(i+1, lua.LString(value))
		}
	}
	end := lua.LValue(lua.LNil)
	if len(values) > 0 {
		end = lua.LNumber(len(values))
	}
	if more, _ := t.Next(end); more == lua.LNil && t.Metatable == lua.LNil && t.Len() == len(values) {
		return t
	}
	fresh := v.l.CreateTable(len(values), 0)
	v.globals.RawSetString(name, fresh)
	return v.filled(name, fresh, values)
}

// maxStatuses bounds the tables that are used again.
const maxStatuses = 16

// status is a status reply, a table with the field ok: one that an earlier script got, unless that has changed it.
// Nothing of a script remains that could lead to it: see [luaVM].
func (v *luaVM) status(text string) *lua.LTable {
	if v.given == len(v.statuses) {
		if v.given == maxStatuses {
			return single(v.l, "ok", text)
		}
		v.statuses = append(v.statuses, v.l.CreateTable(0, 1))
	}
	t := v.statuses[v.given]
	if !isStatus(t) {
		t = v.l.CreateTable(0, 1)
		v.statuses[v.given] = t
	}
	v.given++
	t.RawSetString("ok", lua.LString(text))
	return t
}

// isStatus reports whether a table has no more than the field ok.
func isStatus(t *lua.LTable) bool {
	key, _ := t.Next(lua.LNil)
	if key == lua.LString("ok") {
		key, _ = t.Next(key)
	}
	return key == lua.LNil && t.Metatable == lua.LNil
}

// replyText is the argument of status_reply and error_reply, a string.
func replyText(l *lua.LState) string {
	s, ok := l.Get(1).(lua.LString)
	if !ok || l.GetTop() != 1 {
		l.RaiseError("wrong number or type of arguments")
	}
	return string(s)
}

func statusReply(l *lua.LState) int {
	l.Push(single(l, "ok", replyText(l)))
	return 1
}

func errorReply(l *lua.LState) int {
	message := strings.TrimPrefix(replyText(l), "-")
	if !strings.Contains(message, " ") {
		message = "ERR " + message
	}
	l.Push(single(l, "err", message))
	return 1
}

func single(l *lua.LState, field, value string) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString(field, lua.LString(value))
	return t
}

// setResp accepts RESP2, the only protocol for scripts here.
func setResp(l *lua.LState) int {
	if l.CheckInt(1) != 2 {
		l.RaiseError("this world's scripts speak RESP2 only")
	}
	return 0
}
