package lock_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer writes random Lua scripts: operations of scripts for Redis, in any combination. A script returns all its
// values in the end, in a table with holes.
type writer struct {
	rng  *rand.Rand
	text strings.Builder
	vars []string
}

// generate returns a script that uses three keys and three arguments.
func generate(rng *rand.Rand) string {
	w := &writer{rng: rng}
	for range 2 + rng.IntN(6) {
		w.statement(0)
	}
	w.line("return %s", w.result())
	return w.text.String()
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

func (w *writer) pick(choices ...string) string { return choices[w.rng.IntN(len(choices))] }

// statement writes one statement, which may declare a variable.
func (w *writer) statement(depth int) {
	what := w.rng.IntN(10)
	if depth > 1 {
		what = w.rng.IntN(7)
	}
	switch {
	case what < 3:
		w.line("%s", w.declare(w.command()))
	case what < 5:
		w.line("%s", w.declare(w.value(0)))
	case what < 6:
		w.line("%s", w.command())
	case what < 7:
		w.line("%s", w.declare("pcall(function() return "+w.command()+" end)"))
	default:
		w.block(depth)
	}
}

// declare assigns a value to a variable that later statements use.
func (w *writer) declare(value string) string {
	name := fmt.Sprint("v", len(w.vars))
	w.vars = append(w.vars, name)
	return "local " + name + " = " + value
}

// block writes statements with local variables.
func (w *writer) block(depth int) {
	outside := len(w.vars)
	switch w.rng.IntN(3) {
	case 0:
		w.line("if %s then", w.condition())
	case 1:
		w.line("for i = 1, %d do", 1+w.rng.IntN(3))
	default:
		w.line("for _, key in ipairs(KEYS) do")
		w.line("redis.call('APPEND', key .. ':seen', 'x')")
	}
	w.statement(depth + 1)
	w.line("end")
	w.vars = w.vars[:outside]
}

func (w *writer) key() string { return w.pick("KEYS[1]", "KEYS[2]", "KEYS[3]") }

func (w *writer) condition() string {
	return w.pick(
		"redis.call('EXISTS', "+w.key()+") == 1",
		"redis.call('GET', 'str') == ARGV[1]",
		"redis.call('TYPE', "+w.key()+").ok == 'string'",
		"not redis.call('HGET', 'hash', 'a')",
		"tonumber(ARGV[2]) > 10",
		"#ARGV == 3",
		w.value(1)+" == "+w.value(1),
		"type("+w.value(1)+") == 'table'",
	)
}

// textValue is an expression whose value is a string.
func (w *writer) textValue() string {
	return w.pick("'a'", "''", "ARGV[1]", "'12'", "'-7'", "'1.5'", "'a b'", "string.rep('ab', 3)", "string.upper('xy')",
		"string.sub('abcdef', 2, -2)", "string.format('%d-%s', 12, 'x')", "string.format('%.0f', 2^53)", "'x' .. 1",
		"tostring(12)",
		"tostring(nil)", "string.reverse('abc')", "string.gsub('a-b-c', '-', '+')", "string.match('key:12', '%d+')",
		"table.concat({1, 2, 'x'}, ',')",
		"redis.sha1hex('')", "type(KEYS)", "string.char(65, 66)", "cjson.encode({1, 2, 'x'})", "cjson.encode('a')")
}

// number is an expression whose value is a number.
func (w *writer) number() string {
	return w.pick("0", "1", "-1", "12", "3.9", "-3.9", "2^31", "2^53", "1e3", "tonumber(ARGV[2])", "tonumber('0x10')",
		"tonumber('10', 2)",
		"#ARGV", "#KEYS[1]", "math.floor(7 / 2)", "math.max(1, 3)", "math.fmod(7, 3)", "7 % 3", "-7 % 3", "string.len('abc')",
		"math.abs(-2)",
		"select('#', 1, 2)", "string.byte('A')", "cjson.decode('[1,2]')[2]", "table.getn({1, 2, 3})", "unpack({4, 5})")
}

// value is any expression.
func (w *writer) value(depth int) string {
	switch what := w.rng.IntN(12); {
	case what < 3:
		return w.textValue()
	case what < 6:
		return w.number()
	case what < 8 && len(w.vars) > 0:
		return w.vars[w.rng.IntN(len(w.vars))]
	case what < 10:
		return w.pick("true", "false", "nil", "tonumber('x')", "ARGV[9]", "{}", "{ok='fine'}", "{err='ERR mine'}",
			"(1 == 1.0)",
			"redis.status_reply('DONE')", "redis.error_reply('MINE is broken')", "('1' == 1)", "{a=1}")
	case depth < 2:
		return "{" + w.value(depth+1) + ", " + w.value(depth+1) + "}"
	}
	return w.number()
}

// command is a call of Redis. Some fail: the keys are of all types.
func (w *writer) command() string {
	how := w.pick("redis.call", "redis.call", "redis.call", "redis.pcall")
	return how + "(" + w.arguments() + ")"
}

func (w *writer) arguments() string {
	key, number := w.key(), fmt.Sprint(w.rng.IntN(20)-5)
	field, member := w.pick("'a'", "'b'", "'c'"), w.pick("'m'", "'n'", "ARGV[1]")
	return w.pick(
		"'GET', "+key, "'GET', 'str'", "'SET', 'str', "+w.textValue(), "'SET', 'str', 'x', 'NX'",
		"'SET', 'str', 'y', 'XX', 'PX', 90000",
		"'SET', 'str', 'z', 'NX', 'PX', ARGV[3]", "'SETNX', 'str', 'w'", "'GETDEL', 'str'", "'GETSET', 'str', 'new'",
		"'STRLEN', 'str'", "'APPEND', 'str', 'x'",
		"'INCR', 'count'", "'DECR', 'count'", "'INCRBY', 'count', "+number, "'INCR', 'str'", "'GET', 'count'",
		"'INCRBYFLOAT', 'count', '1.5'",
		"'MGET', 'str', 'count', 'none'", "'MSET', 'str', '1', 'count', '2'",
		"'HSET', 'hash', "+field+", "+number, "'HSET', 'hash', 'a', 1, 'b', 2", "'HGET', 'hash', "+field,
		"'HINCRBY', 'hash', "+field+", "+number,
		"'HDEL', 'hash', "+field, "'HEXISTS', 'hash', "+field, "'HLEN', 'hash'", "'HSETNX', 'hash', "+field+", 5",
		"'HMGET', 'hash', 'a', 'z'", "'HINCRBY', 'str', 'a', 1",
		"'ZADD', 'zset', "+number+", "+member, "'ZREM', 'zset', "+member, "'ZSCORE', 'zset', "+member, "'ZRANK', 'zset', "+
			member, "'ZCARD', 'zset'",
		"'ZRANGE', 'zset', 0, -1, 'WITHSCORES'", "'ZRANGEBYSCORE', 'zset', '-inf', "+number,
		"'ZREMRANGEBYSCORE', 'zset', '-inf', "+number, "'ZADD', 'zset', 'NX', "+number+", "+member,
		"'ZRANGE', 'zset', 0, 0", "'ZINCRBY', 'zset', 2, "+member, "'ZCOUNT', 'zset', '(1', '+inf'",
		"'RPUSH', 'list', "+number, "'LPUSH', 'list', "+field, "'LPOP', 'list'", "'LRANGE', 'list', 0, -1", "'LLEN', 'list'",
		"'LREM', 'list', 0, "+field, "'LINDEX', 'list', 0", "'RPOP', 'list'",
		"'SADD', 'set', "+member, "'SREM', 'set', "+member, "'SISMEMBER', 'set', "+member, "'SCARD', 'set'",
		"'DEL', "+key, "'DEL', 'str', 'none'", "'UNLINK', 'hash'", "'EXISTS', "+key, "'EXISTS', 'str', 'str'", "'TYPE', "+key,
		"'PEXPIRE', "+key+", 80000", "'EXPIRE', "+key+", 70", "'PERSIST', "+key, "'PEXPIRE', 'none', 100", "'TTL', 'none'",
		"'PTTL', 'forever'", "'EXPIRE', 'str', 0",
		"'PEXPIRE', 'str', 60000, 'NX'",
		"'PUBLISH', 'news', 'x'", "'ECHO', 'x'", "'LPUSH', 'str', 'x'", "'GET'", "'NOSUCHCOMMAND', 'x'",
		"'RENAME', 'none', 'other'", "'HGETALL', 'none'",
	)
}

// result is the return value of a script.
func (w *writer) result() string {
	if len(w.vars) == 0 || w.rng.IntN(4) == 0 {
		return w.value(0)
	}
	if w.rng.IntN(3) == 0 {
		return w.vars[w.rng.IntN(len(w.vars))]
	}
	return "{" + strings.Join(w.vars, ", ") + "}"
}
