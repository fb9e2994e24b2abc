package faults

import (
	"fmt"

	"locksim/lock/promise"
)

// Crash ends a process: none of its code, deferred code included, touches the
// world any more. Only a Restart brings it back, without its memory. What a
// Redis node has on its disk then depends on its persistence (F15, F17).
type Crash struct {
	// Process is who dies: a client such as "c0", or a Redis node such as "r0".
	Process string
	// Mode is how. Empty means CrashProcess.
	Mode CrashMode
}

// CrashMode is what the peers of a crashed process notice.
type CrashMode string

const (
	// CrashProcess kills the process only. Its operating system lives on and
	// closes its sockets, so peers see the connections end.
	CrashProcess CrashMode = "process"
	// CrashPower turns the machine off. Peers hear nothing at all, and what the
	// operating system had not put on its disk yet is gone.
	CrashPower CrashMode = "power"
)

// CrashModes lists the modes, the default first. The caller owns the slice.
func CrashModes() []CrashMode { return []CrashMode{CrashProcess, CrashPower} }

// Crasher is a world whose processes can crash.
type Crasher interface {
	// Crash ends the process now. The mode is never empty. It returns an error
	// when there is no such process.
	Crash(process string, mode CrashMode) error
}

// Kind is "crash".
func (Crash) Kind() string { return "crash" }

func (c *Crash) form() Form {
	return Form{
		Text:  "a process ends, and the system closes its sockets or the power is gone",
		Class: c.class(),
		Stays: !isClient(c.Process),
		Fields: []Field{
			{"process", Name{To: &c.Process, Role: Clients | Servers}, "which one dies"},
			{"mode", Word{(*string)(&c.Mode), texts(CrashModes())}, "what its peers notice"},
		},
	}
}

// class is that of the end of a process, or of the loss of a machine's power.
func (c *Crash) class() promise.Fault {
	if c.Mode == CrashPower {
		return clientOrNode(c.Process, promise.Power, promise.NodePower)
	}
	return clientOrNode(c.Process, promise.Crash, promise.NodeCrash)
}

// Apply asks a Crasher for the crash.
func (c Crash) Apply(world any) error {
	c = filled(c)
	return ask(c, world, func(w Crasher) error { return w.Crash(c.Process, c.Mode) })
}

// String is "crash c0 (process)".
func (c Crash) String() string {
	c = filled(c)
	return fmt.Sprintf("crash %s (%s)", c.Process, c.Mode)
}
