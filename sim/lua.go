package sim

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// luaEngine runs a node's EVAL and EVALSHA. miniredis builds a Lua state for
// every script, some 350 µs; Redis keeps one for as long as it lives, and so
// does the engine. Which scripts the node knows is up to miniredis, so that
// SCRIPT LOAD, EXISTS and FLUSH, also inside MULTI, are right; the engine
// keeps what it has compiled. A script's commands go through miniredis as
// nested calls, under its lock: a script is atomic.
type luaEngine struct {
	node    *RedisNode
	vm      *luaVM
	scripts map[string]*luaScript // by SHA-1
}

type luaScript struct {
	title  string
	source string
	proto  *lua.FunctionProto // nil until it first runs here
}

func newLuaEngine(n *RedisNode) *luaEngine {
	return &luaEngine{node: n, scripts: map[string]*luaScript{}}
}

// close gives the Lua state back.
func (e *luaEngine) close() {
	if e.vm != nil {
		e.vm.release()
		e.vm = nil
	}
}

// run executes EVAL or EVALSHA in a database, and reports whether it did.
// Other commands are miniredis's, and so is the refusal of wrong arguments,
// and a SHA-1 whose source never came past here.
func (e *luaEngine) run(c *server.Peer, args []string, db int) bool {
	if len(args) < 3 || !runsScript(args[0]) {
		return false
	}
	keys, argv, ok := splitKeys(args[2], args[3:])
	if !ok {
		return false
	}
	s, problem := e.find(args)
	switch {
	case problem != "":
		c.WriteError(problem)
	case s != nil:
		e.node.mini.Lock()
		defer e.node.mini.Unlock()
		e.exec(c, s, keys, argv, db)
	default:
		return false
	}
	return true
}

// find is the script that a command runs, or why it cannot.
func (e *luaEngine) find(args []string) (s *luaScript, problem string) {
	switch strings.ToUpper(args[0]) {
	case "EVAL":
		s = e.keep(args[1])
		if err := s.compile(); err != nil {
			return nil, "ERR Error compiling script (new function): " + oneLine(err.Error())
		}
		e.load(s)
	case "EVALSHA":
		if s = e.scripts[args[1]]; s == nil || !e.loaded(args[1]) {
			return nil, "" // for miniredis to refuse
		}
		if err := s.compile(); err != nil {
			return nil, "ERR Error compiling script: " + oneLine(err.Error())
		}
	}
	return s, ""
}

// see keeps the source of a script that goes past, for its title and for
// an EVALSHA to come.
func (e *luaEngine) see(args []string) {
	switch {
	case len(args) > 1 && (strings.EqualFold(args[0], "EVAL") || strings.EqualFold(args[0], "EVAL_RO")):
		e.keep(args[1])
	case len(args) == 3 && strings.EqualFold(args[0], "SCRIPT") && strings.EqualFold(args[1], "LOAD"):
		e.keep(args[2])
	}
}

func (e *luaEngine) keep(source string) *luaScript {
	sha := shaOf(source)
	s := e.scripts[sha]
	if s == nil {
		s = &luaScript{title: titleOf(source, sha), source: source}
		e.scripts[sha] = s
	}
	return s
}

// loaded asks miniredis whether it knows a script.
func (e *luaEngine) loaded(sha string) bool {
	return bytes.Equal(e.node.ask(0, "SCRIPT", "EXISTS", sha), []byte("*1\r\n:1\r\n"))
}

// load makes a script known to miniredis.
func (e *luaEngine) load(s *luaScript) {
	if !e.loaded(shaOf(s.source)) {
		e.node.ask(0, "SCRIPT", "LOAD", s.source)
	}
}

func (s *luaScript) compile() (err error) {
	if s.proto == nil {
		s.proto, err = compile(s.source)
	}
	return err
}

func shaOf(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}

// title is what the trace calls the script of a command: the comment in its
// first line, or the beginning of its SHA-1.
func (e *luaEngine) title(command, script string) string {
	bySHA := len(command) >= len("EVALSHA")
	if strings.EqualFold(command, "EVAL_RO") {
		bySHA = false
	}
	switch s := e.scripts[script]; {
	case bySHA && s != nil:
		return s.title
	case bySHA:
		return script[:min(len(script), 8)]
	}
	return titleOf(script, shaOf(script))
}

func titleOf(source, sha string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(source, " \t\r\n"), "\n")
	if text, ok := strings.CutPrefix(line, "--"); ok {
		return "[" + strings.TrimSpace(text) + "]"
	}
	return sha[:8]
}

func splitKeys(count string, rest []string) (keys, argv []string, ok bool) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > len(rest) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

// exec runs one script. The miniredis lock is held.
func (e *luaEngine) exec(c *server.Peer, s *luaScript, keys, argv []string, db int) {
	if e.vm == nil {
		e.vm = acquireVM()
		e.vm.commands = e
	}
	if err := e.vm.run(c, s.proto, keys, argv, db); err != nil {
		e.node.w.fail(fmt.Errorf("%s runs the script %s: %w", e.node.id, s.title, err))
	}
	if e.vm.dirty() { // rawset, table.insert: it has got at a table that is kept
		e.vm = nil
	}
}

// compiled keeps compiled scripts for the whole program: a prototype is not
// changed by running it.
var compiled = struct {
	sync.Mutex
	protos map[string]*lua.FunctionProto
}{protos: map[string]*lua.FunctionProto{}}

// maxCompiled bounds what is kept, for a client that writes a new script for
// every call.
const maxCompiled = 256

func compile(source string) (*lua.FunctionProto, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if p := compiled.protos[source]; p != nil {
		return p, nil
	}
	chunk, err := parse.Parse(strings.NewReader(source), "user_script")
	if err != nil {
		return nil, err
	}
	proto, err := lua.Compile(chunk, "user_script")
	if err != nil {
		return nil, err
	}
	if len(compiled.protos) >= maxCompiled {
		clear(compiled.protos)
	}
	compiled.protos[source] = proto
	return proto, nil
}

func oneLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
