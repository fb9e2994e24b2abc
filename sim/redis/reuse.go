package redis

import (
	"bufio"
	"context"
	"io"
	"reflect"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// Reuse keeps from run to run what is expensive to make: compiled scripts, Lua states, and the miniredis of each
// server. A run does not affect another through it. The zero value is ready to use; it is safe for concurrent use.
type Reuse struct {
	mu     sync.Mutex
	protos map[string]*lua.FunctionProto // by source; a run does not change them
	states idle[*luaVM]
	minis  idle[*miniredis.Miniredis]
}

// maxCompiled bounds the compiled scripts, for a client that sends a new script
// with every call; maxIdle bounds the states, and the servers.
const (
	maxCompiled = 256
	maxIdle     = 16
)

// idle are things that no server uses.
type idle[T any] struct {
	mu  sync.Mutex
	all []T
}

// take takes one; ok is false if there is none.
func (i *idle[T]) take() (x T, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.all)
	if n == 0 {
		return x, false
	}
	x = i.all[n-1]
	i.all = i.all[:n-1]
	return x, true
}

func (i *idle[T]) keep(x T) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.all) < maxIdle {
		i.all = append(i.all, x)
	}
}

func (r *Reuse) compile(source string) (*lua.FunctionProto, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.protos[source]; p != nil {
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
	proto.IsVarArg &^= lua.VarArgNeedsArg // a main chunk has no table arg in Lua 5.1, and it costs more than most scripts
	if r.protos == nil || len(r.protos) >= maxCompiled {
		r.protos = map[string]*lua.FunctionProto{}
	}
	r.protos[source] = proto
	return proto, nil
}

// state returns a Lua state that no server uses: building one takes as long as some
// twenty round trips.
func (r *Reuse) state() *luaVM {
	if v, ok := r.states.take(); ok {
		return v
	}
	return newLuaVM()
}

// keepState takes a state that its server no longer needs.
func (r *Reuse) keepState(v *luaVM) {
	v.commands = nil
	r.states.keep(v)
}

// mini returns a miniredis that has just started: making one, with its 200 commands, takes as long as several round
// trips.
func (r *Reuse) mini() *miniredis.Miniredis {
	if m, ok := r.minis.take(); ok {
		return m
	}
	m := miniredis.NewMiniRedis()
	if err := start(m); err != nil {
		panic("redis: " + err.Error()) // it cannot fail in memory
	}
	return m
}

// keepMini takes the miniredis of a server that has ended, all of whose sessions are closed.
func (r *Reuse) keepMini(m *miniredis.Miniredis) {
	if renew(m) {
		r.minis.keep(m)
	} else {
		m.CtxCancel() // it has no listener that Close would have to close
	}
}

// renew makes a miniredis as one that has just started, but for its time and its random numbers, which a new server
// sets, and for the versions of keys, which are only compared. It reports false for one that cannot be used again: this
// version of miniredis is not known, or a subscriber is left.
func renew(m *miniredis.Miniredis) bool {
	mini, serving := reflect.ValueOf(m).Elem(), reflect.ValueOf(m.Server()).Elem()
	subscribers, commands := mini.FieldByName("subscribers"), serving.FieldByName("infoCmds")
	if subscribers.Kind() != reflect.Map || subscribers.Len() > 0 || commands.Kind() != reflect.Int {
		return false
	}
	m.Server().SetPreHook(nil)
	m.FlushAll()
	m.Server().Dispatch(server.NewPeer(bufio.NewWriter(io.Discard)), []string{"SCRIPT", "FLUSH"})
	m.CtxCancel() // its channel, if there is one, belongs to the bubble of the run
	m.Ctx, m.CtxCancel = context.WithCancel(context.Background())
	*(*int)(commands.Addr().UnsafePointer()) = 0 // INFO shows how many it has carried out
	return true
}
