package redis

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/server"
)

// TestShapeOfUnknownStructs shows that a changed miniredis gives an error that
// names the difference, and no panic of reflect.
func TestShapeOfUnknownStructs(t *testing.T) {
	//nolint:unused // reflection finds the fields
	type notNested struct {
		selectedDB  int
		transaction []func()
		subscriber  *int
		nested      bool
	}
	//nolint:unused // reflection finds the fields
	type renamed struct {
		db          int
		transaction []func()
		subscriber  *int
		nested      bool
	}
	//nolint:unused // reflection finds the fields
	type otherKind struct {
		selectedDB  int
		transaction map[string]int
		subscriber  *int
		nested      bool
	}
	for _, tc := range []struct {
		ctx  any
		want string
	}{
		{nil, "<nil>"},
		{42, "want a pointer to a struct"},
		{(*notNested)(nil), "want a pointer to a struct"},
		{new(int), "want a pointer to a struct"},
		{&notNested{}, "not marked as nested"},
		{&renamed{nested: true}, "no field selectedDB of kind int"},
		{&otherKind{nested: true}, "no field transaction of kind slice"},
	} {
		_, err := shapeOf(tc.ctx)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%T: error %v, want one about %q", tc.ctx, err, tc.want)
		}
	}
}

// TestNestedContextsAreFresh shows that a script does not affect the context of
// another.
func TestNestedContextsAreFresh(t *testing.T) {
	a, b := nestedContext(), nestedContext()
	if a == b {
		t.Fatal("two scripts share a context")
	}
	n := loneNode(t)
	p := server.NewPeer(nil)
	p.Ctx = a
	n.data.mini.Lock()
	defer n.data.mini.Unlock()
	n.lua.vm = n.lua.reuse.state()
	n.lua.vm.commands = n.lua
	n.lua.vm.nested.Ctx = a
	n.lua.vm.dispatch("SELECT", "3")
	if got := connStateOf(p).db; got != 3 {
		t.Errorf("after SELECT 3 the context is in database %d", got)
	}
	p.Ctx = b
	if got := connStateOf(p).db; got != 0 {
		t.Errorf("the other context is in database %d", got)
	}
}

func TestConnState(t *testing.T) {
	n := loneNode(t)
	p, out := peerTo()
	do := func(line string) { n.data.mini.Server().Dispatch(p, strings.Fields(line)); p.Flush(); out.Reset() }
	for _, step := range []struct {
		line string
		want connState
	}{
		{"PING", connState{}},
		{"SELECT 2", connState{db: 2}},
		{"MULTI", connState{db: 2, inMulti: true}},
		{"MULTI too many", connState{db: 2, inMulti: true}},
		{"EXEC too many", connState{db: 2, inMulti: true}},
		{"EXEC", connState{db: 2}},
		{"SUBSCRIBE a", connState{db: 2, subscribed: true}},
		{"MULTI", connState{db: 2, subscribed: true}},
		{"UNSUBSCRIBE", connState{db: 2}},
	} {
		do(step.line)
		if got := connStateOf(p); got != step.want {
			t.Errorf("after %s: %+v, want %+v", step.line, got, step.want)
		}
	}
}
