package faults

import "fmt"

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

// Flusher is a world whose Redis nodes can be emptied.
type Flusher interface {
	// Flush makes the node forget now. what is never empty. It returns an error
	// when there is no such node.
	Flush(node string, what FlushWhat) error
}

// Kind is "flush".
func (Flush) Kind() string { return "flush" }

// Apply asks a Flusher for it.
func (f Flush) Apply(world any) error {
	w, err := able[Flusher](f, world)
	if err != nil {
		return err
	}
	return done(f, w.Flush(f.Node, orFirst(f.What, FlushWhats())))
}

// Validate returns a *FieldError when no node is named or what it forgets is
// not known.
func (f Flush) Validate() error {
	return first(
		named("node", f.Node, "which one forgets", "r0"),
		oneOf("what", f.What, FlushWhats()),
	)
}

// String is "flush the keys of r0".
func (f Flush) String() string {
	return fmt.Sprintf("flush the %s of %s", orFirst(f.What, FlushWhats()), f.Node)
}
