package sim

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// luaEngine runs a node's scripts. miniredis builds a Lua state for every
// EVAL, some 350 µs; Redis keeps one for as long as it lives, and so does the
// engine, with the compiled scripts. Commands that a script calls go through
// miniredis as nested calls, under its lock: a script is atomic.
type luaEngine struct {
	node    *RedisNode
	state   *lua.LState
	scripts map[string]*luaScript // by SHA-1
	nested  *server.Peer          // what a script's commands come from
	reply   bytes.Buffer
	random  *rand.Rand
}

type luaScript struct {
	title string
	proto *lua.FunctionProto
}

func newLuaEngine(n *RedisNode) *luaEngine {
	return &luaEngine{node: n, scripts: map[string]*luaScript{}}
}

// handles reports whether a command is the engine's. The read-only variants,
// and scripts inside MULTI, are left to miniredis.
func (e *luaEngine) handles(name string) bool {
	switch name {
	case "EVAL", "EVALSHA":
		return true
	}
	return false
}

// follow keeps up with SCRIPT LOAD and SCRIPT FLUSH, which miniredis answers.
func (e *luaEngine) follow(args []string) {
	switch {
	case len(args) == 2 && strings.EqualFold(args[0], "LOAD"):
		_, _ = e.keep(args[1]) // a script that does not compile is miniredis's to refuse
	case len(args) > 0 && strings.EqualFold(args[0], "FLUSH"):
		e.scripts = map[string]*luaScript{}
	}
}

// run executes EVAL or EVALSHA. args are without the command's name.
func (e *luaEngine) run(c *server.Peer, name string, args []string) {
	if len(args) < 2 {
		c.WriteError(fmt.Sprintf("ERR wrong number of arguments for '%s' command", strings.ToLower(name)))
		return
	}
	script, err := e.script(name, args[0])
	if err != "" {
		c.WriteError(err)
		return
	}
	keys, argv, err := splitKeys(args[1], args[2:])
	if err != "" {
		c.WriteError(err)
		return
	}
	e.node.mini.Lock()
	defer e.node.mini.Unlock()
	e.exec(c, script, keys, argv)
}

// script finds a script by its SHA-1, which Redis takes in either case, or
// compiles and keeps it.
func (e *luaEngine) script(command, arg string) (*luaScript, string) {
	if command == "EVALSHA" {
		if s := e.scripts[strings.ToLower(arg)]; s != nil {
			return s, ""
		}
		return nil, "NOSCRIPT No matching script. Please use EVAL."
	}
	if s := e.scripts[shaOf(arg)]; s != nil {
		return s, ""
	}
	s, err := e.keep(arg)
	if err != nil {
		return nil, "ERR Error compiling script (new function): " + oneLine(err)
	}
	quiet := server.NewPeer(bufio.NewWriter(io.Discard))
	e.node.mini.Server().Dispatch(quiet, []string{"SCRIPT", "LOAD", arg}) // so that SCRIPT EXISTS knows it
	return s, ""
}

// keep compiles a script that a client has sent or loaded.
func (e *luaEngine) keep(source string) (*luaScript, error) {
	proto, err := compile(source)
	if err != nil {
		return nil, err
	}
	sha := shaOf(source)
	s := &luaScript{title: titleOf(source, sha), proto: proto}
	e.scripts[sha] = s
	return s, nil
}

func shaOf(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}

// title is what the trace calls a script: the comment in its first line, or
// the beginning of its hash.
func (e *luaEngine) title(sourceOrSHA string) string {
	if s := e.scripts[strings.ToLower(sourceOrSHA)]; s != nil {
		return s.title
	}
	return titleOf(sourceOrSHA, shaOf(sourceOrSHA))
}

func titleOf(source, sha string) string {
	line, _, _ := strings.Cut(source, "\n")
	if text, ok := strings.CutPrefix(line, "--"); ok {
		return "[" + strings.TrimSpace(text) + "]"
	}
	return sha[:8]
}

func splitKeys(count string, rest []string) (keys, argv []string, err string) {
	n, bad := strconv.Atoi(count)
	switch {
	case bad != nil:
		return nil, nil, "ERR value is not an integer or out of range"
	case n < 0:
		return nil, nil, "ERR Number of keys can't be negative"
	case n > len(rest):
		return nil, nil, "ERR Number of keys can't be greater than number of args"
	}
	return rest[:n], rest[n:], ""
}

// exec runs one script. The miniredis lock is held.
func (e *luaEngine) exec(c *server.Peer, s *luaScript, keys, argv []string) {
	if e.state == nil {
		e.open()
	}
	l := e.state
	e.random = rand.New(rand.NewPCG(0, 0)) // Redis too seeds math.random anew for every script
	l.G.Global.RawSetString("KEYS", stringTable(l, keys))
	l.G.Global.RawSetString("ARGV", stringTable(l, argv))
	l.SetTop(0)
	l.Push(l.NewFunctionFromProto(s.proto))
	if err := l.PCall(0, 1, nil); err != nil {
		c.WriteError(scriptError(err))
		return
	}
	writeLua(l, c, l.Get(-1))
	l.SetTop(0)
}

func stringTable(l *lua.LState, values []string) *lua.LTable {
	t := l.CreateTable(len(values), 0)
	for i, v := range values {
		t.RawSetInt(i+1, lua.LString(v))
	}
	return t
}

// compiled keeps compiled scripts for the whole program: a prototype is not
// changed by running it.
var compiled sync.Map

func compile(source string) (*lua.FunctionProto, error) {
	if p, ok := compiled.Load(source); ok {
		return p.(*lua.FunctionProto), nil
	}
	chunk, err := parse.Parse(strings.NewReader(source), "user_script")
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, "user_script")
	if err != nil {
		return nil, err
	}
	compiled.Store(source, proto)
	return proto, nil
}

// failure is what redis.call and redis.pcall make of an error.
type failure func(l *lua.LState, message string) int

func raise(l *lua.LState, message string) int {
	l.Error(single(l, "err", message), 1)
	return 0
}

func returnError(l *lua.LState, message string) int {
	l.Push(single(l, "err", message))
	return 1
}

// call runs a command for a script.
func (e *luaEngine) call(l *lua.LState, fail failure) int {
	args, ok := commandArgs(l)
	if !ok {
		return fail(l, "ERR Lua redis lib command arguments must be strings or integers")
	}
	if strings.EqualFold(args[0], "TIME") {
		return e.time(l)
	}
	reply := e.dispatch(args...)
	value, err := server.ParseReply(bufio.NewReader(bytes.NewReader(reply)))
	if err != nil {
		return fail(l, scriptCallError(err))
	}
	l.Push(toLua(l, value))
	return 1
}

func scriptCallError(err error) string {
	if strings.Contains(err.Error(), "ERR unknown command") {
		return "ERR Unknown Redis command called from script"
	}
	return err.Error()
}

// dispatch gives a nested command to miniredis. The reply is valid until the
// next call. The miniredis lock is held.
func (e *luaEngine) dispatch(args ...string) []byte {
	e.reply.Reset()
	e.node.mini.Server().Dispatch(e.nested, args)
	e.nested.Flush()
	return e.reply.Bytes()
}

// time is TIME, which miniredis refuses to nest in some versions.
func (e *luaEngine) time(l *lua.LState) int {
	now := e.node.Now()
	t := l.NewTable()
	t.Append(lua.LString(strconv.FormatInt(now.Unix(), 10)))
	t.Append(lua.LString(strconv.Itoa(now.Nanosecond() / 1000)))
	l.Push(t)
	return 1
}

func commandArgs(l *lua.LState) ([]string, bool) {
	n := l.GetTop()
	args := make([]string, 0, n)
	for i := 1; i <= n; i++ {
		switch v := l.Get(i).(type) {
		case lua.LNumber:
			args = append(args, v.String())
		case lua.LString:
			args = append(args, string(v))
		default:
			return nil, false
		}
	}
	return args, n > 0
}

// scriptError is the message of a failed script. An error that came out of
// redis.call is passed on as it is.
func scriptError(err error) string {
	if api, ok := err.(*lua.ApiError); ok {
		if t, ok := api.Object.(*lua.LTable); ok {
			return t.RawGetString("err").String()
		}
	}
	return "ERR Error running script: " + oneLine(err)
}

func oneLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}

