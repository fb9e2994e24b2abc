package play

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// This file is what the driver knows of where it runs: nothing of simulated or
// live worlds, only what both can do.

// Env is all that a lock under test may know of where it runs: the same in a
// simulated world and on real machines. Its methods are safe for concurrent use.
//
// A lock that is given the clock, the dialer, the random numbers and the entropy
// of its environment, in place of those of the program, runs under all faults and
// is repeatable.
type Env interface {
	// Name is the client's: c0, c1, …
	Name() string
	// Identity is who the client says that it is: its name, or one that it shares
	// with others where the scenario says so. A lock that takes an owner id from
	// its user takes this one.
	Identity() string
	// Context ends when the client's process crashes or the run is over.
	Context() context.Context
	// Clock is monotonic time, by which leases are measured. WallClock may jump: it
	// is for code that judges by wall time, which a lock should not (F21).
	Clock() lock.Clock
	WallClock() lock.Clock
	// Address is the address under which a server ("r0", "primary") is dialled. An
	// unknown name comes back as it is, and fails when it is dialled.
	Address(server string) string
	// Dial opens a connection, and fits the Dialer of most client libraries. addr
	// is a server's name, with or without its port, or its address.
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	// Source is a source of random numbers for one use, Entropy one of random
	// bytes. Equal names give equal numbers: give each use its own. Neither is safe
	// for concurrent use.
	Source(use string) rand.Source
	Entropy(use string) io.Reader
	// Spec is the lock as the scenario wants it: its TTL, its backoff, its clients.
	// A lock that goes by it sets [Lock.FollowsSpec].
	Spec() file.LockSpec
	// Point is a named point, at which faults may strike although no time passes
	// there. Its error means that the process has come to its end.
	Point(label string) error
	// OnEnd registers what is to be closed when the run is over.
	OnEnd(f func())
}

// Machine is a client's machine as the driver sees it: what a lock may know of it,
// but for what the scenario says, and what only a harness can do. Its methods are
// safe for concurrent use.
type Machine interface {
	Name() string
	Context() context.Context
	Clock() lock.Clock
	WallClock() lock.Clock
	Address(server string) string
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	Source(use string) rand.Source
	Entropy(use string) io.Reader
	OnEnd(f func())

	// Go runs f on a goroutine of the process. [Stage.Idle] waits for it.
	Go(f func())
	// Mark leaves an event in the trace and returns its position. It waits while
	// the process is paused; faults may strike there. Its error means that the
	// process, or its worker, has come to its end.
	Mark(m trace.Mark) (checker.Pos, error)
	// Observe is Mark without waiting: what the harness sees of the process, even
	// while it is paused or has crashed.
	Observe(m trace.Mark) checker.Pos
	// Store is the client's way to the protected resource.
	Store() Store
	// View is what else the harness sees.
	View() View
}

// View is what a harness sees of a process from outside.
type View interface {
	// Crashed and Paused say what state the process is in.
	Crashed() bool
	Paused() bool
	// LooksAtWallClock reports whether it has ever read its wall clock.
	LooksAtWallClock() bool
	// Now is the time of its monotonic clock, also while it is paused.
	Now() time.Time
	// Until waits until that clock shows t, also while the process is paused. It
	// reports whether it does: stop was not closed first, and the run not over.
	Until(t time.Time, stop <-chan struct{}) bool
}

// Store does operations on the protected resource.
type Store interface {
	// Do reads or writes. op says what, grant under which grant. It returns what a
	// read has found and how it ended as far as the client can know, with the
	// reason where it did not end well.
	Do(ctx context.Context, op checker.Op, grant string) (saw string, outcome checker.Outcome, err error)
}

// Stage is where a scenario is played: a simulated world, or a live one. Its
// methods are for one goroutine, on which the functions that it is given run too.
type Stage interface {
	// Clients are c0, c1, …, those that have come back in place of those before.
	Clients() []Machine
	// Join adds a machine of that name: the probe.
	Join(name string) (Machine, error)
	// Revive starts a client that has crashed again.
	Revive(name string) (Machine, error)
	// At calls f at a time since the start of the run, After after a while.
	At(t time.Duration, f func())
	After(d time.Duration, f func())
	// OnMark calls f when a client passes a mark, before it goes on. f may apply
	// faults.
	OnMark(f func(client string, m trace.Mark))
	// RunUntil lets everything go on until done. Idle reports whether every
	// goroutine of a machine has ended, Quiet whether nothing is under way on the
	// network.
	RunUntil(done func() bool) error
	Idle() bool
	Quiet() bool
	// Faults are what can be done to the world: the abilities that actions ask
	// for. Heal ends all that lasts.
	Faults() any
	Heal()
	// Trace is what has happened so far.
	Trace() *trace.Trace
	// Ground is what nobody in the world can see.
	Ground() Ground
}

// Ground is the truth about a world that its clients cannot see.
type Ground interface {
	// WatchKeys asks for every change of these keys on every server, KeyChanges are
	// the changes so far.
	WatchKeys(keys ...string)
	KeyChanges() []trace.KeyChange
	// Servers are all servers but the store, in order. The caller owns the slice.
	Servers() []ServerState
	// Decisions are what the store made of all operations that arrived, Value is
	// what a register holds.
	Decisions() []Decision
	Value(resource, register string) string
}

// ServerState is a server as it is at one moment.
type ServerState struct {
	Name string
	// Role is what it is among others, such as "primary" or "replica of r0"; it is
	// empty for a server that stands alone.
	Role string
	// Asked says that locks ask it: it is no replica, nor a primary that a failover
	// has replaced.
	Asked bool
	// Keys are its keys, if it is of a kind that has some. Listed says so.
	Keys   []trace.Key
	Listed bool
}

// Decision is what the store made of one operation, and where.
type Decision struct {
	At checker.Pos
	trace.Decision
}

// env is the environment of one client's lock.
type env struct {
	Machine
	identity string
	spec     file.LockSpec
}

func (e env) Identity() string { return e.identity }

func (e env) Spec() file.LockSpec { return e.spec }

func (e env) Point(label string) error {
	_, err := e.Mark(trace.Mark{Step: trace.Point, Label: label})
	return err
}

// AddPool tells the world of a pool of connections, if the world has a use for it.
func (e env) AddPool(p faults.Pool) {
	if a, ok := e.Machine.(interface{ AddPool(faults.Pool) }); ok {
		a.AddPool(p)
	}
}
