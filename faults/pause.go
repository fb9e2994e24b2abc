package faults

import (
	"fmt"
	"time"
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

// Apply asks a Pauser for the pause.
func (p Pause) Apply(world any) error {
	w, err := able[Pauser](p, world)
	if err != nil {
		return err
	}
	return done(p, w.Pause(p.Process, p.For))
}

// Validate returns a *FieldError when no process is named or the pause does not
// last.
func (p Pause) Validate() error {
	return first(
		named("process", p.Process, "which one stops", "c0"),
		longerThanZero("for", p.For, "a pause lasts", "15s"),
	)
}

// String is "pause c0 for 15s".
func (p Pause) String() string { return fmt.Sprintf("pause %s for %v", p.Process, p.For) }
