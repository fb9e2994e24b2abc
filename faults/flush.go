package faults

import (
	"fmt"

	"locksim/lock/promise"
)

// Flush empties a node at an administrator's word: FLUSHALL, or SCRIPT FLUSH
// (F46).
type Flush struct {
	// Node is who forgets: "r0".
	Node string
	// What is what it forgets. Empty means FlushKeys.
	What FlushWhat
}

// FlushWhat is what a node forgets.
type FlushWhat string

const (
	// FlushKeys is every key, locks and counters alike.
	FlushKeys FlushWhat = "keys"
	// FlushScripts is every script that was sent to it. A client that calls one
	// by its hash is told NOSCRIPT.
	FlushScripts FlushWhat = "scripts"
)

// FlushWhats lists what can be flushed, the default first. The caller owns the
// slice.
func FlushWhats() []FlushWhat { return []FlushWhat{FlushKeys, FlushScripts} }

// Flusher is a server that can be emptied.
type Flusher interface {
	// Flush makes the server forget now, and returns how many keys or scripts it has deleted. what is never empty.
	Flush(what FlushWhat) (deleted int, err error)
}

// Kind is "flush".
func (Flush) Kind() string { return "flush" }

func (f *Flush) form() Form {
	class := promise.Flush
	if f.What == FlushScripts {
		class = promise.Scripts
	}
	return Form{
		Text:  "a node forgets its keys or its scripts",
		Class: class,
		Fields: []Field{
			{"node", Name{To: &f.Node, Role: Servers}, "which one forgets"},
			{"what", Word{(*string)(&f.What), texts(FlushWhats())}, "what it forgets"},
		},
	}
}

// Apply asks a Flusher for it.
func (f Flush) Apply(world any) error {
	f = filled(f)
	return askServer(f, world, f.Node, func(s Flusher) (bool, error) {
		deleted, err := s.Flush(f.What)
		return deleted > 0, err
	})
}

// String is "flush the keys of r0".
func (f Flush) String() string {
	f = filled(f)
	return fmt.Sprintf("flush the %s of %s", f.What, f.Node)
}
