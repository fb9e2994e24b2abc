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
// every script, which takes some 350 µs; Redis has one for its whole life, and
// so does the engine. miniredis has the list of loaded scripts, so that SCRIPT
// LOAD, EXISTS and FLUSH, also inside MULTI, are right; the engine caches what
// it has compiled. A script's commands go through miniredis as nested calls,
// under its lock: a script is atomic.
type luaEngine struct {
	server  *Server
	reuse   *Reuse
	vm      *luaVM
	scripts map[string]*luaScript // by SHA-1
	// known are scripts that are certainly loaded, by SHA-1: all of them, or,
	// if stale, only some, and miniredis is asked about the others. pending are
	// loaded into miniredis before it next needs them.
	known   map[string]bool
	stale   bool
	pending []*luaScript
}

type luaScript struct {
	sha    string
	title  string
	source string
	proto  *lua.FunctionProto // nil before its first run
}

func newLuaEngine(n *Server, reuse *Reuse) *luaEngine {
	return &luaEngine{server: n, reuse: reuse, scripts: map[string]*luaScript{}, known: map[string]bool{}}
}

// close returns the Lua state for the next run.
func (e *luaEngine) close() {
	if e.vm != nil {
		e.reuse.keepState(e.vm)
		e.vm = nil
	}
}

// run executes EVAL or EVALSHA in a database, and reports whether it did.
// miniredis runs other commands, and refuses wrong arguments.
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

// find is the script that a command runs, or the error reply.
func (e *luaEngine) find(args []string) (s *luaScript, problem string) {
	switch strings.ToUpper(args[0]) {
	case "EVAL":
		s = e.intern(args[1])
		if err := s.compile(e.reuse); err != nil {
			return nil, "ERR Error compiling script (new function): " + oneLine(err.Error())
		}
		e.load(s)
	case "EVALSHA":
		if s = e.scripts[args[1]]; s == nil || !e.loaded(args[1]) { // the engine has seen every source
			return nil, "NOSCRIPT No matching script. Please use EVAL."
		}
		if err := s.compile(e.reuse); err != nil {
			return nil, "ERR Error compiling script: " + oneLine(err.Error())
		}
	}
	return s, ""
}

// observe stores the source of a script in a command that miniredis runs, for
// its title and for a later EVALSHA.
func (e *luaEngine) observe(args []string) {
	switch {
	case len(args) > 1 && (strings.EqualFold(args[0], "EVAL") || strings.EqualFold(args[0], "EVAL_RO")):
		e.intern(args[1])
	case len(args) == 3 && strings.EqualFold(args[0], "SCRIPT") && strings.EqualFold(args[1], "LOAD"):
		e.intern(args[2])
	}
}

func (e *luaEngine) intern(source string) *luaScript {
	sha := shaOf(source)
	s := e.scripts[sha]
	if s == nil {
		s = &luaScript{sha: sha, title: titleOf(source, sha), source: source}
		e.scripts[sha] = s
	}
	return s
}

// loaded reports whether the server has a script.
func (e *luaEngine) loaded(sha string) bool {
	if !e.known[sha] && e.stale && bytes.Equal(e.server.data.ask(0, "SCRIPT", "EXISTS", sha), []byte("*1\r\n:1\r\n")) {
		e.known[sha] = true
	}
	return e.known[sha]
}

func (e *luaEngine) load(s *luaScript) {
	if !e.loaded(s.sha) {
		e.known[s.sha] = true
		e.pending = append(e.pending, s)
	}
}

func (e *luaEngine) loadPending() {
	for _, s := range e.pending {
		e.server.data.ask(0, "SCRIPT", "LOAD", s.source)
	}
	e.pending = e.pending[:0]
}

// invalidate makes the engine ask miniredis for every script from now on, since
// it may have dropped some.
func (e *luaEngine) invalidate() {
	clear(e.known)
	e.stale = true
}

// flush drops all scripts, and returns how many there were.
func (e *luaEngine) flush() (dropped int) {
	for sha := range e.scripts {
		if e.loaded(sha) {
			dropped++
		}
	}
	e.server.data.ask(0, "SCRIPT", "FLUSH")
	e.pending = e.pending[:0]
	e.invalidate()
	return dropped
}

// involvesScripts reports whether a command of miniredis may use scripts: it
// runs one, is SCRIPT, or ends a transaction.
func involvesScripts(command string) bool {
	return runsScript(command) || strings.EqualFold(command, "SCRIPT") || strings.EqualFold(command, "EXEC")
}

func (s *luaScript) compile(reuse *Reuse) (err error) {
	if s.proto == nil {
		s.proto, err = reuse.compile(s.source)
	}
	return err
}

func shaOf(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}

// title is the name of a command's script in the trace: the comment in its
// first line, or the beginning of its SHA-1.
func (e *luaEngine) title(command, script string) string {
	bySHA := namesScript(command)
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
		e.vm = e.reuse.state()
		e.vm.commands = e
	}
	if err := e.vm.run(c, s.proto, keys, argv, db); err != nil {
		e.server.node.Fail(fmt.Errorf("%s runs the script %s: %w", e.server.Name(), s.title, err))
	}
	if e.vm.dirty() { // by rawset or table.insert it has changed a table that is reused
		e.vm = nil
	}
}

func oneLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
