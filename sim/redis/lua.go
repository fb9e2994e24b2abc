package redis

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// luaEngine runs a node's EVAL and EVALSHA. miniredis builds a Lua state for
// every script, some 350 µs; Redis keeps one for as long as it lives, and so
// does the engine. Which scripts the node knows is up to miniredis, so that
// SCRIPT LOAD, EXISTS and FLUSH, also inside MULTI, are right; the engine
// keeps what it has compiled. A script's commands go through miniredis as
// nested calls, under its lock: a script is atomic.
type luaEngine struct {
	server  *Server
	kept    *Scripts
	vm      *luaVM
	scripts map[string]*luaScript // by SHA-1
	// known are scripts that the server certainly knows, by SHA-1: all of them, or
	// in doubt only some, and miniredis is asked of the others. It is told of untold
	// before it has to know of any.
	known    map[string]bool
	doubtful bool
	untold   []*luaScript
}

type luaScript struct {
	sha    string
	title  string
	source string
	proto  *lua.FunctionProto // nil until it first runs here
}

func newLuaEngine(n *Server, kept *Scripts) *luaEngine {
	return &luaEngine{server: n, kept: kept, scripts: map[string]*luaScript{}, known: map[string]bool{}}
}

// close gives the Lua state back.
func (e *luaEngine) close() {
	if e.vm != nil {
		e.kept.giveBack(e.vm)
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
		e.server.data.mini.Lock()
		defer e.server.data.mini.Unlock()
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
		if err := s.compile(e.kept); err != nil {
			return nil, "ERR Error compiling script (new function): " + oneLine(err.Error())
		}
		e.load(s)
	case "EVALSHA":
		if s = e.scripts[args[1]]; s == nil || !e.loaded(args[1]) { // every source has come past here
			return nil, "NOSCRIPT No matching script. Please use EVAL."
		}
		if err := s.compile(e.kept); err != nil {
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
		s = &luaScript{sha: sha, title: titleOf(source, sha), source: source}
		e.scripts[sha] = s
	}
	return s
}

// loaded reports whether the server knows a script.
func (e *luaEngine) loaded(sha string) bool {
	if !e.known[sha] && e.doubtful && bytes.Equal(e.server.data.ask(0, "SCRIPT", "EXISTS", sha), []byte("*1\r\n:1\r\n")) {
		e.known[sha] = true
	}
	return e.known[sha]
}

// load makes a script known to the server.
func (e *luaEngine) load(s *luaScript) {
	if !e.loaded(s.sha) {
		e.known[s.sha] = true
		e.untold = append(e.untold, s)
	}
}

// tell tells miniredis of all scripts that the server knows.
func (e *luaEngine) tell() {
	for _, s := range e.untold {
		e.server.data.ask(0, "SCRIPT", "LOAD", s.source)
	}
	e.untold = e.untold[:0]
}

// doubt has miniredis asked for every script from now on: it may have forgotten
// some.
func (e *luaEngine) doubt() {
	clear(e.known)
	e.doubtful = true
}

// forget forgets all scripts.
func (e *luaEngine) forget() {
	e.server.data.ask(0, "SCRIPT", "FLUSH")
	e.untold = e.untold[:0]
	e.doubt()
}

// concerns reports whether a command that miniredis runs may have to do with
// scripts: it runs one, is about them, or ends a transaction.
func concerns(command string) bool {
	return runsScript(command) || strings.EqualFold(command, "SCRIPT") || strings.EqualFold(command, "EXEC")
}

func (s *luaScript) compile(kept *Scripts) (err error) {
	if s.proto == nil {
		s.proto, err = kept.compile(s.source)
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
		e.vm = e.kept.take()
		e.vm.commands = e
	}
	if err := e.vm.run(c, s.proto, keys, argv, db); err != nil {
		e.server.node.Fail(fmt.Errorf("%s runs the script %s: %w", e.server.Name(), s.title, err))
	}
	if e.vm.dirty() { // rawset, table.insert: it has got at a table that is kept
		e.vm = nil
	}
}

func oneLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
