package redis

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locksim/sim"
)

// loneNode is a Redis server without a network: the run of its world is over.
func loneNode(t testing.TB) *Server {
	var of *Server
	_, err := sim.Run(sim.Config{Servers: []sim.Kind{Servers{}}}, func(w *sim.World) (err error) {
		of, err = On(w, "r0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	n := newServer(of.node, of.family)
	t.Cleanup(n.Close)
	return n
}

// peerTo is a connection whose replies go to a buffer.
func peerTo() (*server.Peer, *bytes.Buffer) {
	var out bytes.Buffer
	return server.NewPeer(bufio.NewWriter(&out)), &out
}

// engines are the node's engine and miniredis' own, side by side.
type engines struct {
	t      testing.TB
	node   *Server
	native *miniredis.Miniredis
	peers  [2]*server.Peer
	outs   [2]*bytes.Buffer
}

func newEngines(t testing.TB) *engines {
	e := &engines{t: t, node: loneNode(t), native: miniredis.NewMiniRedis()}
	if err := start(e.native); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.native.Close)
	now := e.node.node.Now()
	e.node.data.mini.SetTime(now)
	e.native.SetTime(now)
	for i := range e.peers {
		e.peers[i], e.outs[i] = peerTo()
	}
	return e
}

// do sends one command to both.
func (e *engines) do(args ...string) (ours, native string) {
	s := &session{server: e.node, peer: e.peers[0], replying: true}
	s.dispatch(append([]string(nil), args...), connStateOf(s.peer))
	e.native.Server().Dispatch(e.peers[1], args)
	var replies [2]string
	for i, p := range e.peers {
		p.Flush()
		replies[i] = e.outs[i].String()
		e.outs[i].Reset()
	}
	return replies[0], replies[1]
}

// fewArguments is an error for which Redis has another text in scripts.
var fewArguments = regexp.MustCompile(`-ERR wrong number of arguments for '\w+' command`)

// same fails the test if the engines differ, in a reply or in the data. Of an
// error only the kind is compared.
func (e *engines) same(args ...string) {
	e.t.Helper()
	ours, native := e.do(args...)
	if runsScript(args[0]) {
		native = fewArguments.ReplaceAllString(native, "-ERR Wrong number of args calling Redis command from script")
	}
	if strings.HasPrefix(ours, "-") && strings.HasPrefix(native, "-") {
		ours, native = errorKind(ours), errorKind(native)
	}
	if ours != native {
		e.t.Fatalf("%q\n  here:      %q\n  miniredis: %q", args, ours, native)
	}
	e.sameData(args)
}

func (e *engines) sameData(after []string) {
	e.t.Helper()
	for db := range 3 {
		e.node.data.mini.Select(db)
		e.native.Select(db)
		if a, b := e.node.data.mini.Dump(), e.native.Dump(); a != b {
			e.t.Fatalf("after %q database %d differs\nhere:\n%s\nminiredis:\n%s", after, db, a, b)
		}
		for _, k := range e.native.DB(db).Keys() {
			if a, b := e.node.data.mini.DB(db).TTL(k), e.native.DB(db).TTL(k); a != b {
				e.t.Fatalf("after %q the key %s has the TTL %v, in miniredis %v", after, k, a, b)
			}
		}
	}
}

// errorKind is the first word of an error. miniredis calls every failure of a
// script a failure to compile it, and puts a position before a command's error;
// Redis and this engine pass the command's error on.
func errorKind(reply string) string {
	reply = strings.TrimPrefix(reply, "-")
	reply = strings.TrimPrefix(reply, "ERR Error compiling script (new function): ")
	reply = regexp.MustCompile(`^(<string>)?:\d+: `).ReplaceAllString(reply, "")
	if word, _, _ := strings.Cut(reply, " "); regexp.MustCompile(`^[A-Z]+$`).MatchString(word) {
		return word
	}
	return "ERR"
}

func TestLuaAgreesWithMiniredis(t *testing.T) {
	for _, script := range []string{
		// What a script may return.
		`return 1`, `return -1`, `return 3.99`, `return -3.99`, `return 1e15`, `return 'text'`, `return ''`, `return true`,
		`return false`, `return nil`, `return`,
		``, `local x = 1`, `return {}`, `return {1, 2, 3}`, `return {1, {2, {3, 'x'}}, true, false}`, `return {1, nil, 3}`,
		`return {nil}`, `return {a = 1}`,
		`return {1, 2, a = 3}`, `return {ok = 'fine'}`, `return {err = 'ERR bad'}`, `return {err = 'MY bad'}`,
		`return {{ok = 'a'}, {err = 'ERR b'}}`,
		`return 1, 2, 3`, `return "line\nbreak"`, `return {ok = "two\r\nlines"}`, `return '\0binary\255'`,
		`return 0/0 ~= 0/0`,
		// Replies of the redis table.
		`return redis.status_reply('FINE')`, `return redis.error_reply('MY fault')`, `return redis.error_reply('short')`,
		`return redis.error_reply('-MY fault')`,
		`return redis.sha1hex('')`, `return redis.sha1hex('abc')`,
		`redis.log(redis.LOG_NOTICE, 'x') return redis.LOG_WARNING`, `return redis.replicate_commands()`,
		`return server.call('PING')`, `return redis.status_reply(1)`, `return redis.error_reply()`, `redis.error_reply({})`,
		// Commands.
		`return redis.call('SET', KEYS[1], ARGV[1])`, `return redis.call('GET', KEYS[1])`,
		`return redis.call('GET', 'nothing')`, `return redis.call('get', KEYS[1]) == ARGV[1]`,
		`return redis.call('SET', KEYS[1], 1, 'NX')`, `return redis.call('SET', KEYS[1], 'v', 'NX', 'PX', 5000)`,
		`return redis.call('SET', KEYS[1], 'v', 'PX', 5000)`,
		`return redis.call('PTTL', KEYS[1])`, `return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
		`return redis.call('TTL', KEYS[1])`, `return redis.call('PERSIST', KEYS[1])`,
		`return redis.call('DEL', KEYS[1], KEYS[2])`, `return redis.call('INCR', KEYS[1])`,
		`return redis.call('INCRBY', KEYS[1], 2.0)`, `return redis.call('INCRBYFLOAT', KEYS[1], 0.5)`,
		`return redis.call('HINCRBY', KEYS[2], 'f', 2)`, `return redis.call('HGETALL', KEYS[2])`,
		`return redis.call('HMGET', KEYS[2], 'f', 'none')`, `return redis.call('HEXISTS', KEYS[2], 'f')`,
		`return redis.call('ZADD', 'z', 1.5, 'a', 2, 'b')`, `return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')`,
		`return redis.call('ZSCORE', 'z', 'a')`, `return redis.call('ZREMRANGEBYSCORE', 'z', '-inf', 1.7)`,
		`return redis.call('LPUSH', 'l', 'a', 'b', 3)`, `return redis.call('LRANGE', 'l', 0, -1)`,
		`return redis.call('RPOP', 'l')`, `return redis.call('LINDEX', 'l', 99)`, `return #redis.call('LRANGE', 'l', 0, -1)`,
		`return redis.call('SADD', 's', 'x', 'y')`, `return redis.call('SMEMBERS', 's')`, `return redis.call('TYPE', 's')`,
		`return redis.call('TYPE', 's').ok`, `return redis.call('TIME')`,
		`return redis.call('MGET', 'x', KEYS[1], 'y')`, `return {redis.call('MGET', 'x', 'y')[1]}`,
		`return redis.call('PUBLISH', 'ch', 'm')`, `return redis.call('SCAN', 0)[1]`,
		`return redis.call('XADD', 'st', '1-1', 'f', 'v')`, `return redis.call('XRANGE', 'st', '-', '+')`,
		`return redis.call('ECHO', 'a\r\nb')`, `return redis.call('EXISTS', KEYS[1], KEYS[1])`,
		`redis.call('SELECT', 1) return redis.call('SET', 'in1', 'v')`, `return redis.call('EXISTS', 'in1')`,
		`return redis.call('FLUSHDB')`,
		// Failures of commands.
		`return redis.call('INCR', 'z')`,
		`redis.call('SET', 'before', 1) redis.call('INCR', 's') redis.call('SET', 'after', 1)`,
		`return redis.pcall('INCR', 's')`, `return redis.pcall('INCR', 's').err`,
		`return redis.pcall('GET')`, `return redis.call('GET')`, `return redis.call('GET', 'a', 'b')`,
		`return redis.call('NOSUCH')`, `return redis.pcall('NOSUCH', 1)`, `return redis.call()`, `return redis.call(nil)`,
		`return redis.call({})`, `return redis.call('GET', {})`, `return redis.call('GET', true)`,
		`return redis.call('GET', nil)`, `return {redis.pcall('INCR', 's'), 2}`, `return redis.call('EVAL', 'return 1', 0)`,
		`return redis.call('EVALSHA', 'x', 0)`, `return redis.call('SCRIPT', 'FLUSH')`, `return redis.call('MULTI')`,
		`return redis.call('EXEC')`, `return redis.call('SUBSCRIBE', 'x')`, `return redis.call('AUTH', 'x')`,
		`return redis.call('WATCH', 'x')`,
		`local ok = pcall(redis.call, 'INCR', 's') return ok`, `local ok, e = pcall(error, 'mine', 0) return {ok, e}`,
		`local ok, e = pcall(error, {code = 7}) return {ok, e.code}`, `return (pcall(error))`,
		// Failures of the script itself.
		`error('boom')`, `error('ERR boom')`, `error({})`, `return nosuch`, `return nosuch.field`, `nosuch()`, `x = 1`,
		`function f() end`, `return 1 +`, `retrun 1`, `return ("x")()`, `return #nil`,
		`return 1 .. {}`, `return {} < {}`, `local function f() return f() + 1 end return f()`, `return string.rep('x', -1)`,
		`local t = setmetatable({}, {__index = function() error('deep') end}) return t.x`,
		// KEYS and ARGV.
		`return {KEYS[1], KEYS[2], ARGV[1], ARGV[2]}`, `return {#KEYS, #ARGV}`, `return KEYS[3]`, `return ARGV[99]`,
		`return KEYS[0]`, `return {KEYS, ARGV}`, `KEYS[1] = 'mine' return KEYS[1]`, `return ARGV[1] .. ARGV[2]`,
		`return ARGV[2] + 1`,
		// Libraries.
		`return string.format('%d %s %5.2f %q', 42, 'x', 3.14159, 'q')`, `return ('abc'):upper() .. ('abc'):sub(2, -1)`,
		`return {string.find('hello', 'l+')}`, `return (string.gsub('hello', 'l', 'L'))`, `return string.byte('A')`,
		`return #string.rep('ab', 100)`,
		`local t = {} for w in string.gmatch('a b c', '%a') do table.insert(t, w) end return t`,
		`return table.concat({1, 2, 3}, ',')`, `local t = {3, 1, 2} table.sort(t) return t`,
		`local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t`,
		`local t = {1, 2} table.insert(t, 1, 0) table.remove(t) return t`, `return unpack({1, 2})`,
		`return select('#', 1, nil, 3)`, `return math.floor(3.7) + math.ceil(3.2) + math.max(1, 9, 2)`, `return math.abs(-5)`,
		`return tostring(math.pi):sub(1, 6)`,
		`return tonumber('0x10')`, `return tonumber('12', 3)`, `return tonumber('nope')`, `return type(tonumber('1.5'))`,
		`return tostring(nil) .. tostring(true) .. tostring(12)`,
		`local n = 0 for _, v in ipairs({1, 2, nil, 4}) do n = n + v end return n`,
		`local n = 0 for k, v in pairs({a = 1, b = 2}) do n = n + v end return n`, `return loadstring('return 7')()`,
		`local c = coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end) return {c(), c()}`, `return next({})`,
		`return rawget({a = 5}, 'a')`, `local t = {} rawset(t, 'x', 1) return t.x`, `return rawequal('a', 'a')`,
		`return type(getmetatable({}))`, `return _VERSION`, `assert(false, 'no')`, `return assert(5)`,
		`return xpcall(function() error('x') end, function() return 'handled' end)`,
		`return cjson.encode({1, 2, {a = 'b'}})`, `return cjson.encode('text')`,
		`return cjson.decode('{"a": [1, 2, {"b": "c"}]}').a[3].b`, `return cjson.decode('[1, 2.5, "x", true]')`,
		`return cjson.encode({})`, `return cjson.decode('"x"')`, `return #cjson.decode('[1,2,3]')`,
		`return cjson.encode({b = 1, a = 2})`, `return type(cjson.decode('null'))`, `return cjson.decode('{}').x`,
		`while true do return 1 end`, `local s = 0 for i = 1, 1000 do s = s + i end return s`,
		`for i = 10, 1, -3 do if i < 5 then return i end end`, `local i = 0 repeat i = i + 1 until i > 4 return i`,
		`return (function(...) return select('#', ...) end)(1, 2, 3)`,
		`return not nil and 1 or 2`, `return 7 % 3 + 2 ^ 10`, `return 'a' < 'b'`, `--[[ block ]] return 1`,
		"-- title\nreturn 1", "return 1 -- end", `return [[long
string]]`, `local a <const> = 1`, `goto done ::done:: return 1`,
	} {
		t.Run("", func(t *testing.T) {
			e := newEngines(t)
			for _, setup := range []string{"SET k1 10", "HSET k2 f 1", "SADD s 1", "RPUSH l z", "ZADD z 1 one"} {
				e.same(strings.Fields(setup)...)
			}
			e.t = t
			e.same("EVAL", script, "2", "k1", "k2", "10", "20")
			e.same("EVAL", script, "2", "k1", "k2", "10", "20")
		})
	}
}

// TestLuaDiffersFromMiniredis shows where this engine agrees with Redis, and
// miniredis does not.
func TestLuaDiffersFromMiniredis(t *testing.T) {
	for _, tc := range []struct{ why, script, want string }{
		{"an error that a command raised is caught as its text", `local ok, e = pcall(redis.call, 'INCR', 's') return e`,
			"$65\r\nWRONGTYPE Operation against a key holding the wrong kind of value\r\n"},
		{"and so is one raised in a nested call",
			`local ok, e = pcall(function() return redis.call('INCR', 's') end) return {type(e), tostring(ok)}`,
			"*2\r\n$6\r\nstring\r\n$5\r\nfalse\r\n"},
		{"a table of the script's own with the field err too", `local ok, e = pcall(error, {err = 'mine'}) return e`,
			"$4\r\nmine\r\n"},
		{"not one without it", `local ok, e = pcall(error, {code = 7}) return type(e)`, "$5\r\ntable\r\n"},
		{"nor what xpcall hands to its handler",
			`local ok, e = xpcall(function() redis.call('INCR', 's') end, function(m) return type(m) end) return e`,
			"$5\r\ntable\r\n"},
		{"nor a table that was returned, not raised",
			`local ok, e = pcall(function() return {err = 'mine'} end) return type(e)`, "$5\r\ntable\r\n"},
		{"pcall catches wrong types of arguments too", `return redis.pcall('GET', {})`,
			"-ERR Lua redis lib command arguments must be strings or integers\r\n"},
		{"a table with an error is one", `error({err = 'MY boom'})`, "-MY boom\r\n"},
		{"cjson raises errors", `return pcall(cjson.decode, '{') and 1 or 0`, ":0\r\n"},
		{"also of encoding", `return pcall(cjson.encode, {[2] = 1}) and 1 or 0`, ":0\r\n"},
		{"text after a value is not JSON", `return pcall(cjson.decode, '1 2') and 1 or 0`, ":0\r\n"},
		{"number fields named err are no errors", `return {err = 5}`, "*0\r\n"},
		{"HELLO needs a connection", `return redis.call('HELLO', 3)`, "-ERR This Redis command is not allowed from " +
			"script\r\n"},
		{"BLPOP would stop the server", `return redis.call('BLPOP', 'none', 0)`, "-ERR BLPOP is not allowed from script: " +
			"this server's scripts have no blocking commands\r\n"},
		{"also XREAD", `return redis.call('XREAD', 'BLOCK', 0, 'STREAMS', 's', '$')`, "-ERR XREAD is not allowed from " +
			"script: this server's scripts have no blocking commands\r\n"},
		{"SELECT holds for call and pcall",
			`redis.call('SELECT', 2) redis.pcall('SET', 'x', 1) return redis.call('EXISTS', 'x')`, ":1\r\n"},
		{"a table in itself ends", `local t = {} t[1] = t return #t`, ":1\r\n"},
		{"miniredis panics over functions", `return {function() end, redis.call, coroutine.create(function() end)}`,
			"*3\r\n$-1\r\n$-1\r\n$-1\r\n"},
		{"os.clock is the node's", `return os.clock() < 1 and 1 or 0`, ":0\r\n"},
	} {
		n := loneNode(t)
		p, out := peerTo()
		n.data.ask(0, "SADD", "s", "x")
		if !n.lua.run(p, []string{"EVAL", tc.script, "0"}, 0) {
			t.Fatalf("%s: not run", tc.why)
		}
		p.Flush()
		if out.String() != tc.want {
			t.Errorf("%s: %s\n  answers %q\n  want    %q", tc.why, tc.script, out, tc.want)
		}
	}
}

// TestLuaKnownScripts runs the scripts of locks in both engines, with the
// client's own key, another client's, none, and one of a wrong type.
func TestLuaKnownScripts(t *testing.T) {
	scripts := map[string]string{
		"redsync delete": `
	local val = redis.call("GET", KEYS[1])
	if val == ARGV[1] then
		return redis.call("DEL", KEYS[1])
	elseif val == false then
		return -1
	else
		return 0
	end
`,
		"redsync touch":    `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) elseif redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2], "NX") then return 1 else return 0 end`,
		"redislock obtain": `for i, k in ipairs(KEYS) do if redis.call("exists", k) == 1 and redis.call("get", k) ~= ARGV[1] then return redis.status_reply("NO") end end for i, k in ipairs(KEYS) do redis.call("set", k, ARGV[1], "px", ARGV[2]) end return redis.status_reply("OK")`,
		"redislock pttl":   `local m = -3 for i, k in ipairs(KEYS) do local t = redis.call("pttl", k) if t > m then m = t end end return m`,
		"redisson unlock":  `if (redis.call('hexists', KEYS[1], ARGV[1]) == 0) then return nil end local counter = redis.call('hincrby', KEYS[1], ARGV[1], -1) if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]) return 0 else redis.call('del', KEYS[1]) redis.call('publish', KEYS[2], '0') return 1 end`,
		"redisson lock":    `if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[1]) == 1)) then redis.call('hincrby', KEYS[1], ARGV[1], 1) redis.call('pexpire', KEYS[1], ARGV[2]) return nil end return redis.call('pttl', KEYS[1])`,
		"semaphore":        `redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[2]) if redis.call('zcard', KEYS[1]) < 2 then redis.call('zadd', KEYS[1], ARGV[2], ARGV[1]) return 1 end return 0`,
	}
	files, err := filepath.Glob("../../lock/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts of the lock package: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		scripts[filepath.Base(f)] = string(text)
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			for _, setup := range []string{"PING", "SET k me", "SET k other PX 7000", "HSET k me 2", "HSET k other 1",
				"ZADD k 5 other", "SET k2 5", "SET k2 text", "RPUSH k x"} {
				e := newEngines(t)
				e.same(strings.Fields(setup)...)
				e.same("SCRIPT", "LOAD", script) // miniredis drops a script that fails
				for range 3 {
					e.same("EVAL", script, "2", "k", "k2", "me", "10000")
					e.same("EVALSHA", shaOf(script), "2", "k", "k2", "me", "10000")
				}
			}
		})
	}
}

// TestLuaGeneratedScripts runs random scripts on a few keys.
func TestLuaGeneratedScripts(t *testing.T) {
	for seed := range uint64(30) {
		e := newEngines(t)
		g := &scriptGen{rand.New(rand.NewPCG(seed, 7))}
		for i := range 12 {
			script := g.script()
			e.same("EVAL", script, "2", "a", "b", "1", "x")
			if i%3 == 0 {
				e.same("SCRIPT", "LOAD", script)
				e.same("EVALSHA", shaOf(script), "2", "c", "a", "7", "y")
			}
		}
	}
}

// scriptGen writes random scripts.
type scriptGen struct{ *rand.Rand }

func (g *scriptGen) pick(of ...string) string { return of[g.IntN(len(of))] }

func (g *scriptGen) script() string {
	var b strings.Builder
	b.WriteString("local r = {}\n")
	for range 1 + g.IntN(6) {
		b.WriteString(g.statement(2) + "\n")
	}
	b.WriteString("return " + g.pick("r", "#r", "r[1]", "r[#r]", "{#r, r}", "type(r[1])", "{r[1], r[2], r[3]}",
		"cjson.encode(#r)", "redis.status_reply('N' .. #r)"))
	return b.String()
}

func (g *scriptGen) statement(depth int) string {
	switch n := g.IntN(8); {
	case depth > 0 && n == 0:
		return "if " + g.condition() + " then " + g.statement(depth-1) + " else " + g.statement(depth-1) + " end"
	case depth > 0 && n == 1:
		return fmt.Sprintf("for i = 1, %d do %s end", g.IntN(4), g.statement(depth-1))
	case n == 2:
		return "pcall(function() " + g.statement(0) + " end)"
	default:
		return "r[#r + 1] = " + g.command() + g.pick("", "", "", " or 'none'", " == 1", " == false")
	}
}

func (g *scriptGen) condition() string {
	return g.pick(g.command()+" == 1", "#r > 1", "ARGV[1] == '1'", g.command()+" == ARGV[2]", "type(r[1]) == 'table'",
		"not r[2]")
}

func (g *scriptGen) command() string {
	key := g.pick("KEYS[1]", "KEYS[2]", "'a'", "'b'", "'c'", "'d'")
	value := g.pick("1", "2.5", "-3", "'x'", "ARGV[1]", "ARGV[2]", "'long ' .. #r")
	form := g.pick("GET %k", "SET %k %v", "SET %k %v NX", "SET %k %v PX 5000", "DEL %k", "EXISTS %k", "INCR %k",
		"INCRBY %k %v", "APPEND %k %v", "STRLEN %k",
		"PEXPIRE %k 1234", "PTTL %k", "PERSIST %k", "TYPE %k", "HSET %k f %v", "HGET %k f", "HGETALL %k", "HINCRBY %k f %v",
		"HDEL %k f", "LPUSH %k %v", "RPUSH %k %v y",
		"LPOP %k", "LRANGE %k 0 -1", "LLEN %k", "SADD %k %v", "SMEMBERS %k", "SISMEMBER %k %v", "ZADD %k 1 %v",
		"ZADD %k %v m", "ZRANGE %k 0 -1 WITHSCORES", "ZSCORE %k m",
		"MGET %k a b", "GETSET %k %v", "SETNX %k %v", "RENAME %k d", "SELECT 1", "NOSUCH %k", "GET", "HGET %k", "TIME",
		"ECHO %v")
	var args []string
	for i, f := range strings.Fields(form) {
		switch {
		case f == "%k":
			args = append(args, key)
		case f == "%v":
			args = append(args, value)
		case i > 0 && f[0] >= '0' && f[0] <= '9':
			args = append(args, f)
		default:
			args = append(args, "'"+f+"'")
		}
	}
	call := "redis.pcall"
	if g.IntN(4) == 0 && form != "SELECT 1" { // in miniredis, call and pcall each have a database
		call = "redis.call"
	}
	if form == "SELECT 1" {
		return "redis.pcall('PING')"
	}
	return call + "(" + strings.Join(args, ", ") + ")"
}

func TestLuaScriptCommands(t *testing.T) {
	e := newEngines(t)
	const script = "return redis.call('INCR', KEYS[1])"
	sha := shaOf(script)
	e.same("EVALSHA", sha, "1", "k") // NOSCRIPT
	e.same("SCRIPT", "EXISTS", sha)
	e.same("SCRIPT", "LOAD", script)
	e.same("SCRIPT", "EXISTS", sha, "other")
	e.same("EVALSHA", sha, "1", "k")
	e.same("SCRIPT", "FLUSH")
	e.same("EVALSHA", sha, "1", "k")
	e.same("EVAL", script, "1", "k")
	e.same("EVALSHA", sha, "1", "k")
	e.same("SCRIPT", "FLUSH", "ASYNC")
	e.same("SCRIPT", "EXISTS", sha)
	e.same("SCRIPT", "LOAD", "return 1 +")
	e.same("EVAL", "return 1", "x")
	e.same("EVAL", "return 1", "-1")
	e.same("EVAL", "return 1", "2", "one")
	e.same("EVAL", "return 1")
	e.same("EVALSHA", sha)
	e.same("EVALSHA", "short", "0")
	e.same("EVAL_RO", "return redis.call('GET', KEYS[1])", "1", "k")
	e.same("EVALSHA_RO", shaOf("return redis.call('GET', KEYS[1])"), "1", "k")
	e.same("EVALSHA", shaOf("return redis.call('GET', KEYS[1])"), "1", "k") // known through EVAL_RO
}

// TestLuaInMulti queues scripts. SCRIPT FLUSH and a first EVAL take effect when
// EXEC runs them, and not when DISCARD drops them.
func TestLuaInMulti(t *testing.T) {
	e := newEngines(t)
	const script = "return redis.call('INCR', KEYS[1])"
	sha := shaOf(script)
	e.same("MULTI")
	e.same("EVAL", script, "1", "k")
	e.same("DISCARD")
	e.same("EVALSHA", sha, "1", "k") // NOSCRIPT: it never ran
	e.same("MULTI")
	e.same("EVAL", script, "1", "k")
	e.same("EVALSHA", sha, "1", "k")
	e.same("EXEC")
	e.same("EVALSHA", sha, "1", "k")
	e.same("MULTI")
	e.same("SCRIPT", "FLUSH")
	e.same("EXEC")
	e.same("EVALSHA", sha, "1", "k") // NOSCRIPT
	e.same("MULTI", "too many")      // refused, so not in MULTI
	e.same("EVAL", script, "1", "k")
	e.same("MULTI")
	e.same("EXEC", "too many") // refused, so still in MULTI
	e.same("EVAL", script, "1", "k")
	e.same("EXEC")
	e.same("SUBSCRIBE", "ch")
	e.same("EVAL", script, "1", "k") // refused to a subscriber
}

func TestLuaFollowsTheDatabase(t *testing.T) {
	e := newEngines(t)
	e.same("SELECT", "1")
	e.same("EVAL", "redis.call('SET', 'k', 'one') return redis.pcall('GET', 'k')", "0")
	e.same("SELECT", "2")
	e.same("EVAL", "return redis.call('EXISTS', 'k')", "0")
	e.same("EVAL", "redis.call('SELECT', 1) return redis.call('GET', 'k')", "0")
	e.same("GET", "k") // the connection's database has not changed
	e.same("SELECT", "0")
	e.same("EVAL", "return redis.call('EXISTS', 'k')", "0")
}

// TestLuaStateIsolation runs a script that tries to change the state, then one
// that would see the change.
func TestLuaStateIsolation(t *testing.T) {
	for _, tc := range []struct{ vandal, witness, want string }{
		{`x = 1`, `return rawget(_G, 'x')`, "$-1\r\n"},
		{`_G.x = 1`, `return rawget(_G, 'x')`, "$-1\r\n"},
		{`rawset(_G, 'x', 1)`, `return rawget(_G, 'x')`, "$-1\r\n"},
		{`rawset(_G, 'redis', 1)`, `return type(redis)`, "$5\r\ntable\r\n"},
		{`table.insert(string, 'x')`, `return #string`, ":0\r\n"},
		{`string.format = nil`, `return string.format('%d', 5)`, "$1\r\n5\r\n"},
		{`string.format = function() return 'mine' end`, `return string.format('%d', 5)`, "$1\r\n5\r\n"},
		{`rawset(string, 'format', function() return 'mine' end)`, `return string.format('%d', 5)`, "$1\r\n5\r\n"},
		{`getmetatable('').__index.upper = nil`, `return ('x'):upper()`, "$1\r\nX\r\n"},
		{`getmetatable('').__index = {}`, `return ('x'):upper()`, "$1\r\nX\r\n"},
		{`setmetatable(_G, {__index = function() return 'mine' end})`,
			`return pcall(function() return nosuch end) and 1 or 0`, ":0\r\n"},
		{`setmetatable(_G, nil)`, `return pcall(function() return nosuch end) and 1 or 0`, ":0\r\n"},
		{`setmetatable(redis, nil)`, `return redis.call('ECHO', 'x')`, "$1\r\nx\r\n"},
		{`table.x = 1`, `return table.x`, "$-1\r\n"},
		{`redis.call = nil`, `return redis.call('ECHO', 'x')`, "$1\r\nx\r\n"},
		{`redis = nil`, `return redis.call('ECHO', 'x')`, "$1\r\nx\r\n"},
		{`tostring = nil`, `return tostring(1)`, "$1\r\n1\r\n"},
		{`KEYS = {'theirs'}`, `return KEYS`, "*0\r\n"},
		{`KEYS[1] = 'theirs' ARGV[5] = 'x'`, `return #KEYS + #ARGV`, ":0\r\n"},
		{`redis.call('SELECT', 1)`, `redis.call('SET', 'here', 1) return redis.call('EXISTS', 'here')`, ":1\r\n"},
		{`pcall(redis.call, 'HELLO', '3')`, `return redis.call('GET', 'none')`, "$-1\r\n"},
		{`pcall(redis.call, 'CLIENT', 'SETNAME', 'x')`, `return 1`, ":1\r\n"},
		{`math.randomseed(99) math.random()`,
			`math.randomseed(5) local a = math.random(1e6) math.randomseed(5) return a == math.random(1e6)`, ":1\r\n"},
		{`setfenv(1, {})`, `return 1`, ":1\r\n"},
		{`loadstring('y = 1')()`, `return rawget(_G, 'y')`, "$-1\r\n"},
		{`coroutine.wrap(function() y = 1 end)()`, `return rawget(_G, 'y')`, "$-1\r\n"},
		{`local function f() return f() + 1 end f()`, `return 1`, ":1\r\n"},
		{`return unpack({}, 1, 100000)`, `return 1`, ":1\r\n"},
		{`return unpack({}, 1, 1e8)`, `return 1`, ":1\r\n"},
		{`local s = string.rep('x', 1e6) return #s`, `return 1`, ":1\r\n"},
		{`error()`, `return 1`, ":1\r\n"},
		{`error(setmetatable({}, {__tostring = function() error('again') end}))`, `return 1`, ":1\r\n"},
		{`local t = {} t[1] = t return t`, `return 1`, ":1\r\n"},
		{`cjson.encode = nil`, `return cjson.encode(1)`, "$1\r\n1\r\n"},
	} {
		n := loneNode(t)
		p, out := peerTo()
		n.lua.run(p, []string{"EVAL", tc.vandal, "0"}, 0)
		p.Flush()
		out.Reset()
		n.lua.run(p, []string{"EVAL", tc.witness, "0"}, 0)
		p.Flush()
		if out.String() != tc.want {
			t.Errorf("after %s\n%s answers %q, want %q", tc.vandal, tc.witness, out, tc.want)
		}
	}
}

// TestLuaReadOnly shows that a write to a library fails at once, as in Redis.
func TestLuaReadOnly(t *testing.T) {
	n := loneNode(t)
	for _, script := range []string{"string.format = nil", "table.x = 1", "x = 1", "redis = nil", "_G.x = 1", "KEYS = 1"} {
		p, out := peerTo()
		n.lua.run(p, []string{"EVAL", script, "0"}, 0)
		p.Flush()
		if !strings.Contains(out.String(), "Attempt to modify a readonly table") {
			t.Errorf("%s answers %q", script, out)
		}
	}
}

// TestLuaRandomRepeats shows that every script draws the same numbers, as in
// Redis.
func TestLuaRandomRepeats(t *testing.T) {
	n := loneNode(t)
	draw := func() string {
		p, out := peerTo()
		n.lua.run(p, []string{"EVAL", "local t = {} for i = 1, 5 do t[i] = math.random(1000) end return t", "0"}, 0)
		p.Flush()
		return out.String()
	}
	a, b := draw(), draw()
	if a != b {
		t.Errorf("two scripts drew %q and %q", a, b)
	}
	other := loneNode(t)
	n = other
	if c := draw(); c != a {
		t.Errorf("another node drew %q instead of %q", c, a)
	}
}

// TestLuaJSONOrder shows that pairs iterates over decoded fields in the order
// of the text, every time.
func TestLuaJSONOrder(t *testing.T) {
	n := loneNode(t)
	for range 20 {
		p, out := peerTo()
		n.lua.run(p, []string{"EVAL",
			`local s = '' for k in pairs(cjson.decode('{"q":1,"w":2,"e":3,"r":4,"t":5,"y":6}')) do s = s .. k end return s`,
			"0"}, 0)
		p.Flush()
		if out.String() != "$6\r\nqwerty\r\n" {
			t.Fatalf("pairs over decoded JSON: %q", out)
		}
	}
}

// TestLuaEndless shows that an endless script is stopped, gets an error reply,
// and fails the run.
func TestLuaEndless(t *testing.T) {
	for _, script := range []string{
		"-- spin\nwhile true do end",
		"-- spin\nwhile true do pcall(function() while true do end end) end",
	} {
		_, err := sim.Run(sim.Config{Servers: []sim.Kind{Servers{}}}, func(w *sim.World) error {
			n, err := On(w, "r0")
			if err != nil {
				return err
			}
			p, out := peerTo()
			n.lua.run(p, []string{"EVAL", script, "0"}, 0)
			p.Flush()
			if !strings.HasPrefix(out.String(), "-ERR the script was stopped") {
				t.Errorf("%s answers %q", script, out)
			}
			out.Reset()
			n.lua.run(p, []string{"EVAL", "return 'next'", "0"}, 0)
			p.Flush()
			if out.String() != "$4\r\nnext\r\n" {
				t.Errorf("the next script answers %q", out)
			}
			return w.RunUntil(w.Idle)
		})
		var limit *sim.LimitError
		if !errors.As(err, &limit) || !strings.Contains(err.Error(), "r0 runs the script [spin]") {
			t.Errorf("%s: the run ends with %v", script, err)
		}
	}
}

func TestLuaTitles(t *testing.T) {
	e := loneNode(t).lua
	titled := e.intern("\n  -- release the lock \nreturn 1")
	plain := e.intern("return 2")
	for _, tc := range []struct{ command, script, want string }{
		{"EVAL", titled.source, "[release the lock]"},
		{"evalsha", shaOf(titled.source), "[release the lock]"},
		{"EVALSHA_RO", shaOf(titled.source), "[release the lock]"},
		{"EVAL_RO", titled.source, "[release the lock]"},
		{"EVAL", plain.source, shaOf(plain.source)[:8]},
		{"EVALSHA", shaOf(plain.source), shaOf(plain.source)[:8]},
		{"EVALSHA", "0123456789abcdef", "01234567"},
		{"EVALSHA", "", ""},
	} {
		if got := e.title(tc.command, tc.script); got != tc.want {
			t.Errorf("%s %.20q is titled %q, want %q", tc.command, tc.script, got, tc.want)
		}
	}
}

// TestCompiledIsBounded shows that a client which sends a new script with every
// call does not fill the memory of the program.
func TestCompiledIsBounded(t *testing.T) {
	kept := new(Reuse)
	for i := range 2 * maxCompiled {
		if _, err := kept.compile(fmt.Sprintf("return %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(kept.protos); n > maxCompiled {
		t.Errorf("%d compiled scripts are kept", n)
	}
}

// BenchmarkLuaState measures the creation of a Lua state, for a node that
// cannot reuse one.
func BenchmarkLuaState(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newLuaVM()
	}
}

func benchmarkScript(b *testing.B, do func(n *Server, p *server.Peer, sha string)) {
	b.ReportAllocs()
	n := loneNode(b)
	p, out := peerTo()
	const script = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
	n.data.ask(0, "SCRIPT", "LOAD", script)
	n.lua.intern(script)
	for b.Loop() {
		n.data.ask(0, "SET", "k", "v")
		do(n, p, shaOf(script))
		p.Flush()
		out.Reset()
	}
}

// BenchmarkLuaCompareAndDelete and BenchmarkLuaNative include a SET.
func BenchmarkLuaCompareAndDelete(b *testing.B) {
	benchmarkScript(b, func(n *Server, p *server.Peer, sha string) {
		n.lua.run(p, []string{"EVALSHA", sha, "1", "k", "v"}, 0)
	})
}

func BenchmarkLuaNative(b *testing.B) {
	benchmarkScript(b, func(n *Server, p *server.Peer, sha string) {
		n.data.mini.Server().Dispatch(p, []string{"EVALSHA", sha, "1", "k", "v"})
	})
}

// A script gets each status reply as a table of its own with the field ok alone, whatever earlier scripts have done
// with theirs.
func TestStatusRepliesAreFresh(t *testing.T) {
	n := loneNode(t)
	p, out := peerTo()
	run := func(script string) string {
		out.Reset()
		if !n.lua.run(p, []string{"EVAL", script, "0"}, 0) {
			t.Fatal("it was not run")
		}
		p.Flush()
		return out.String()
	}
	for _, damage := range []string{
		`redis.call('SET', 'k', 'v').x = 1`,
		`redis.call('SET', 'k', 'v').ok = nil`,
		`redis.call('SET', 'k', 'v')[1] = 'one'`,
		`local t = redis.call('SET', 'k', 'v'); t.ok = nil; t.a = 1; t.ok = 'late'`,
		`setmetatable(redis.call('SET', 'k', 'v'), {__index = function() return 'other' end})`,
		`KEYS[1] = redis.call('SET', 'k', 'v')`,
		`for i = 1, 40 do local t = redis.call('SET', 'k', 'v'); t.ok = 'mine' end`,
	} {
		if got := run(damage + " return 1"); got != ":1\r\n" {
			t.Errorf("%s: %q", damage, got)
		}
		const look = `local t, u, fields = redis.call('SET', 'k', 'v'), redis.call('SET', 'k', 'w'), 0
			for _ in pairs(t) do fields = fields + 1 end
			return tostring(t.ok) .. tostring(t.x) .. tostring(t[1]) .. tostring(getmetatable(t)) .. tostring(t == u) .. fields .. tostring(KEYS[1])`
		if got, want := run(look), "$20\r\nOKnilnilnilfalse1nil\r\n"; got != want {
			t.Errorf("after %s: %q, want %q", damage, got, want)
		}
	}
	const many = `local all, seen = {}, {} for i = 1, 40 do all[i] = redis.call('SET', 'k', 'v') end
		for i = 1, 40 do if seen[all[i]] then return i end seen[all[i]] = true end return 0`
	if got := run(many); got != ":0\r\n" {
		t.Errorf("a script got one table twice: %q", got)
	}
}
