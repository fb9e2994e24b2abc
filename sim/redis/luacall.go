package redis

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// failure is how redis.call or redis.pcall reports an error.
type failure func(l *lua.LState, message string) int

func raise(l *lua.LState, message string) int {
	l.Error(single(l, "err", message), 1)
	return 0
}

func returnError(l *lua.LState, message string) int {
	l.Push(single(l, "err", message))
	return 1
}

// noScript are the commands that a script must not call, as in Redis: they need
// a connection, and a script has none.
var noScript = []string{
	"AUTH", "CLIENT", "DISCARD", "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "EXEC", "HELLO", "MULTI", "PSUBSCRIBE",
	"PUNSUBSCRIBE", "QUIT", "RESET", "SCRIPT", "SUBSCRIBE", "UNSUBSCRIBE", "UNWATCH", "WAIT", "WATCH",
}

// call runs a command for a script.
func (v *luaVM) call(l *lua.LState, fail failure) int {
	args, ok := commandArgs(l)
	switch {
	case !ok:
		return fail(l, "ERR Lua redis lib command arguments must be strings or integers")
	case len(args) == 0:
		return fail(l, "ERR Please specify at least one argument for this redis.call() call")
	case slices.Contains(noScript, strings.ToUpper(args[0])):
		return fail(l, "ERR This Redis command is not allowed from script")
	case blocks(args):
		return fail(l, fmt.Sprintf("ERR %s is not allowed from script: this server's scripts have no blocking commands",
			args[0]))
	}
	reply := v.dispatch(args...)
	if len(reply) > 0 && reply[0] == '-' {
		return fail(l, scriptCallError(args, string(bytes.TrimSuffix(reply[1:], []byte("\r\n")))))
	}
	if len(reply) > 0 && reply[0] == '+' {
		line, _ := cutLine(reply)
		l.Push(v.status(string(line[1:])))
		return 1
	}
	value, _ := toLua(l, reply)
	l.Push(value)
	return 1
}

// scriptCallError is the error of a command as a script gets it. Redis looks for
// unknown commands and wrong numbers of arguments before it calls one.
func scriptCallError(args []string, message string) string {
	switch {
	case strings.HasPrefix(message, "ERR unknown command"):
		return "ERR Unknown Redis command called from script"
	case strings.HasPrefix(message, "ERR wrong number of arguments") && !endsInHalfPair(args):
		return "ERR Wrong number of args calling Redis command from script"
	}
	return message
}

// endsInHalfPair reports whether a command has enough arguments, but a field or
// a key without its value, which the command itself refuses.
func endsInHalfPair(args []string) bool {
	return len(args) > 3 && slices.Contains([]string{"HSET", "HMSET", "MSET", "MSETNX"}, strings.ToUpper(args[0]))
}

// dispatch passes a nested command to miniredis. The reply is valid until the
// next call. The miniredis lock is held.
func (v *luaVM) dispatch(args ...string) []byte {
	v.commands.server.touch(v.db, args)
	v.reply.Reset()
	v.commands.server.data.mini.Server().Dispatch(v.nested, args)
	v.nested.Flush()
	return v.reply.Bytes()
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
	return args, true
}

// scriptError is the message of a failed script. An error of redis.call is
// passed on unchanged.
func scriptError(err error) string {
	api, ok := errors.AsType[*lua.ApiError](err)
	if !ok {
		return "ERR Error running script: " + oneLine(err.Error())
	}
	if t, ok := api.Object.(*lua.LTable); ok {
		if message, ok := t.RawGetString("err").(lua.LString); ok {
			return string(message)
		}
		return "ERR Error running script: unknown error"
	}
	return "ERR Error running script: " + oneLine(err.Error())
}
