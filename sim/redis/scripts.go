package redis

import (
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// Scripts caches compiled scripts and Lua states from run to run, which are
// expensive to create. A run does not affect another through it. The zero value
// is ready to use; it is safe for concurrent use.
type Scripts struct {
	mu     sync.Mutex
	protos map[string]*lua.FunctionProto // by source; a run does not change them
	idle   []*luaVM
}

// maxCompiled bounds the compiled scripts, for a client that sends a new script
// with every call; maxIdle bounds the states.
const (
	maxCompiled = 256
	maxIdle     = 16
)

func (s *Scripts) compile(source string) (*lua.FunctionProto, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.protos[source]; p != nil {
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
	if s.protos == nil || len(s.protos) >= maxCompiled {
		s.protos = map[string]*lua.FunctionProto{}
	}
	s.protos[source] = proto
	return proto, nil
}

// take returns a state that no server uses: building one takes as long as some
// twenty round trips.
func (s *Scripts) take() *luaVM {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		v := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return v
	}
	return newLuaVM()
}

// giveBack returns a state that its server no longer needs.
func (s *Scripts) giveBack(v *luaVM) {
	v.commands = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) < maxIdle {
		s.idle = append(s.idle, v)
	}
}
