package play

import (
	"context"
	"io"
	"math/rand/v2"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// This file is what the driver uses of a simulated or live world: only what both
// can do.

// Machine is a client's machine as the driver sees it: what a lock can use of it,
// except the scenario's part, and what only a harness can do. Its methods are safe
// for concurrent use.
type Machine interface {
	subject.Process
	subject.Clocks
	subject.Network
	subject.Chance
	Worker
	Witness
	// Store is the client's access to the protected resource.
	Store() subject.Store
}

// Worker is a process as it works.
type Worker interface {
	// Notice ends when the process is asked to end, and with its Context. Exit ends the process
	// then; it does nothing if the process has not been asked.
	Notice() context.Context
	Exit()
	// Go runs f on a goroutine of the process. [Stage.Idle] waits for it. Do calls f:
	// the goroutines that f starts are the process's too.
	Go(f func())
	Do(f func())
}

// Witness is a process as it is watched.
type Witness interface {
	// Mark records an event in the trace and returns its position. It waits while
	// the process is paused; faults may strike there. Its error means that the
	// process, or its worker, has crashed or ended.
	Mark(m trace.Mark) (checker.Pos, error)
	// Observe is Mark without waiting: an observation of the process by the
	// harness, also while it is paused or has crashed.
	Observe(m trace.Mark) checker.Pos
	// View is what the harness sees of the process.
	View() View
}

// View is what a harness sees of a process from outside.
type View interface {
	// Crashed and Paused report the state of the process.
	Crashed() bool
	Paused() bool
	// LooksAtWallClock reports whether it has ever read its wall clock.
	LooksAtWallClock() bool
	// Now is the time of its monotonic clock, also while it is paused.
	Now() time.Time
	// Until waits until that clock shows t, also while the process is paused. It
	// reports whether t was reached before stop was closed and the run ended.
	Until(t time.Time, stop <-chan struct{}) bool
	// Look calls f, which asks code of the process what it has: that reads its clocks also while it is paused.
	Look(f func())
}

// Knowing is a lease of a live run that knows of a loss before the grant. In the simulated world the instants tell.
type Knowing interface {
	// LostBefore says that the lock had announced the loss of the lease before the last answer came, and that the lease
	// was granted after that: see [checker.Grant].
	LostBefore() bool
}

// Stage is the world in which a scenario is played, simulated or live. Its methods
// are for one goroutine, which also calls the functions that it is given.
type Stage interface {
	Machines
	Progress
	Trouble
	// Trace is what has happened so far.
	Trace() *trace.Trace
	// Ground is the state that no client can see.
	Ground() Ground
}

// Machines are those of a world.
type Machines interface {
	// Clients are c0, c1, …: of a restarted client the new machine.
	Clients() []Machine
	// Join adds a machine of that name: the probe.
	Join(name string) (Machine, error)
	// Revive restarts a client that has crashed.
	Revive(name string) (Machine, error)
}

// Progress is how a world goes on.
type Progress interface {
	// At calls f at a time since the start of the run, After when d has passed.
	At(t time.Duration, f func())
	After(d time.Duration, f func())
	// OnMark calls f when a client passes a mark, before it goes on. f may apply
	// faults.
	OnMark(f func(client string, m trace.Mark))
	// RunUntil lets the world run until done. Idle reports whether every goroutine
	// of a machine has ended, Quiet whether no message is under way on the network.
	RunUntil(done func() bool) error
	Idle() bool
	Quiet() bool
	// Now is the time since the start of the run. Any goroutine may call it.
	Now() time.Duration
	// Abandon says, at the end of a run, that goroutines of machines wait for ever: the stage need not end them.
	Abandon()
}

// Trouble is what faults do to a world.
type Trouble interface {
	// Faults have the abilities that actions ask for. felt is called, from any
	// goroutine, each time a fault that is applied by them is felt: bytes were held,
	// dropped or delayed, a key was changed, a clock reading that a process took, or
	// a step that a process was about to take. A stage that cannot tell calls it at
	// once. Heal ends all that lasts.
	Faults(felt func()) any
	Heal()
}

// Ground is the state of the servers, which clients cannot see.
type Ground interface {
	// WatchKeys records every change of these keys on every server from now on,
	// KeyChanges are the changes so far.
	WatchKeys(keys ...string)
	// WatchUnseen is WatchKeys without anything more in the trace.
	WatchUnseen(keys ...string)
	KeyChanges() []trace.KeyChange
	// Servers are all servers but the store, in order. The caller owns the slice.
	Servers() []ServerState
	// Decisions are the decisions of the store about all operations that arrived,
	// Value is the value of a register.
	Decisions() []Decision
	Value(resource, register string) string
}

// ServerState is the state of a server at one moment.
type ServerState = evidence.ServerState

// Decision is the store's decision about one operation, with its position.
type Decision = evidence.Decision

// env is the environment of one client's lock.
type env struct {
	Machine
	identity string
	spec     file.LockSpec
	asked    *asked
	streams  subject.Chance
}

func (e env) Source(use string) rand.Source { return e.streams.Source(use) }

func (e env) Entropy(use string) io.Reader { return e.streams.Entropy(use) }

func (e env) Identity() string { return e.identity }

func (e env) Spec() file.LockSpec { return e.spec }

func (e env) Point(label string) error {
	_, err := e.Mark(trace.Mark{Step: trace.Point, Label: label})
	return err
}

// AddPool registers a pool of connections, if the world uses it for faults.
func (e env) AddPool(p faults.Pool) {
	if a, ok := e.Machine.(interface{ AddPool(faults.Pool) }); ok {
		a.AddPool(p)
	}
}
