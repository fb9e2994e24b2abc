package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"
)

// Pause stops a process for a while: a garbage collector that stops the world,
// a virtual machine that migrates, SIGSTOP. While it lasts, time goes on
// everywhere else, bytes pile up in the process's sockets, and nothing that the
// process does reaches anybody. Kleppmann (2016) made it the best-known way to
// outlive a lease.
type Pause struct {
	// Process is who stops: "c0".
	Process string
	// For is how long it stops, in virtual time. It must be positive.
	For time.Duration
}

// Pauser is a world whose processes can be paused.
type Pauser interface {
	// Pause stops the process now and resumes it after d. It does not wait for
	// the end of the pause. It returns an error when there is no such process.
	Pause(process string, d time.Duration) error
}

// Kind is "pause".
func (Pause) Kind() string { return "pause" }

func (p *Pause) form() Form {
	return Form{
		Text:  "a process stops for a while, as in a garbage collection",
		Class: promise.Pause,
		Fields: []Field{
			{"process", Name{To: &p.Process, Role: Clients}, "which one stops"},
			{"for", Length{To: &p.For, Ends: true}, "how long it stops"},
		},
	}
}

// Apply asks a Pauser for the pause.
func (p Pause) Apply(world any) error {
	return ask(p, world, func(w Pauser) error { return w.Pause(p.Process, p.For) })
}

// String is "pause c0 for 15s".
func (p Pause) String() string { return fmt.Sprintf("pause %s for %v", p.Process, p.For) }
