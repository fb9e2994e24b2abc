package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// Terminate asks a process to end, as SIGTERM does, and kills it when its grace is over, as
// SIGKILL does: a deployment, a node that is drained. Between the two a client takes no new
// work: the contexts of its calls end, its section stops at its next pause, and it releases
// its lock under that ended context. When it has nothing left to do it ends by itself. A
// lock that releases nothing under a context that has ended stays taken until its lease is
// over (kalbasit/ncps PR 913, openconfig/gnmic issue 944). [Restart] starts it again.
type Terminate struct {
	// Process is who is asked: "c0".
	Process string
	// Grace is how long it has before it is killed, in virtual time. It must be positive.
	Grace time.Duration
}

// Terminator is a world whose processes can be asked to end.
type Terminator interface {
	// Terminate asks the process to end now, and kills it after the grace if it is still
	// there. It waits for neither. It returns an error when there is no such process.
	Terminate(process string, grace time.Duration) error
}

// Kind is "terminate".
func (Terminate) Kind() string { return "terminate" }

func (t *Terminate) form() Form {
	return Form{
		Text:  "a process is asked to end, and is killed when its grace is over",
		Class: promise.Crash,
		Fields: []Field{
			{"process", Name{To: &t.Process, Role: Clients}, "which one is asked"},
			{"grace", Length{To: &t.Grace, Ends: true}, "how long it has until it is killed"},
		},
	}
}

// Apply asks a Terminator for it.
func (t Terminate) Apply(world any) error {
	return ask(t, world, func(w Terminator) error { return w.Terminate(t.Process, t.Grace) })
}

// String is "ask c0 to end within 15s".
func (t Terminate) String() string { return fmt.Sprintf("ask %s to end within %v", t.Process, t.Grace) }
