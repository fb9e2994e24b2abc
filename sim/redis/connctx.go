package redis

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// miniredis keeps the state of a connection in a struct that it does not
// export. The node has to read three fields of it, and has to pass one with
// nested set to the commands that a script calls, which run under the lock that
// the script already holds. This file does both by reflection, reading only,
// and is the only one that depends on the struct. It panics at the first use if
// a version of miniredis has changed it.

// connState is the part of a connection's state that the node reads.
type connState struct {
	db         int  // SELECTed
	inMulti    bool // between MULTI and EXEC
	subscribed bool
}

// connShape has the indexes of the fields that the node reads.
type connShape struct {
	nested                      reflect.Value // a struct with nested set, to be copied
	db, transaction, subscriber int           // field numbers
}

func connStateOf(p *server.Peer) connState {
	if p.Ctx == nil { // miniredis creates it with the first command
		return connState{}
	}
	return shape().state(p.Ctx)
}

// nestedContext is a new context for the commands of one script, in database 0.
func nestedContext() any { return shape().newNested() }

// renewNested is as [nestedContext], but it uses the context of an earlier script again, if there is one.
func renewNested(ctx any) any {
	if ctx == nil {
		return nestedContext()
	}
	reflect.ValueOf(ctx).Elem().Set(shape().nested)
	return ctx
}

func (s *connShape) state(ctx any) connState {
	v := reflect.ValueOf(ctx).Elem()
	return connState{
		db:         int(v.Field(s.db).Int()),
		inMulti:    !v.Field(s.transaction).IsNil(),
		subscribed: !v.Field(s.subscriber).IsNil(),
	}
}

func (s *connShape) newNested() any {
	fresh := reflect.New(s.nested.Type())
	fresh.Elem().Set(s.nested)
	return fresh.Interface()
}

var shape = sync.OnceValue(func() *connShape {
	caught, err := catchContext()
	if err == nil {
		var s *connShape
		if s, err = shapeOf(caught); err == nil {
			return s
		}
	}
	panic("sim: this version of miniredis does not fit the simulator, which was made for v2.40.0: " + err.Error())
})

// shapeOf examines the context that miniredis gave to a command of a script.
func shapeOf(ctx any) (*connShape, error) {
	v := reflect.ValueOf(ctx)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("the context of a connection is a %T, want a pointer to a struct", ctx)
	}
	s := &connShape{nested: v.Elem()}
	var err error
	field := func(name string, kind reflect.Kind) int {
		f, ok := s.nested.Type().FieldByName(name)
		if !ok || f.Type.Kind() != kind {
			err = fmt.Errorf("%T has no field %s of kind %v", ctx, name, kind)
			return 0
		}
		return f.Index[0]
	}
	s.db = field("selectedDB", reflect.Int)
	s.transaction = field("transaction", reflect.Slice)
	s.subscriber = field("subscriber", reflect.Pointer)
	nested := field("nested", reflect.Bool)
	if err == nil && !s.nested.Field(nested).Bool() {
		err = fmt.Errorf("a command of a script is not marked as nested in %T", ctx)
	}
	return s, err
}

// catchContext gets a nested context from a script that miniredis itself runs.
func catchContext() (any, error) {
	m := miniredis.NewMiniRedis()
	if err := start(m); err != nil {
		return nil, err
	}
	defer m.Close()
	var caught any
	m.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
		if cmd == "PING" {
			caught = p.Ctx
		}
		return false
	})
	m.Server().Dispatch(server.NewPeer(bufio.NewWriter(io.Discard)), []string{"EVAL", "return redis.call('PING')", "0"})
	return caught, nil
}

func start(m *miniredis.Miniredis) error {
	c, err := m.Dial()
	if err != nil {
		return fmt.Errorf("start miniredis in memory: %w", err)
	}
	return c.Close()
}
