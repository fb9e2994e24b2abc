package subject

import (
	"context"
	"io"
	"math/rand/v2"
	"net"

	"locksim/checker"
	"locksim/lock"
	"locksim/scenarios/file"
)

// Env is all that a lock under test can use of its world: the same in a simulated
// world and on real machines. Its methods are safe for concurrent use.
//
// A lock that uses the clock, the dialer, the random numbers and the entropy of its
// environment, in place of those of the program, runs under all faults and is
// repeatable.
type Env interface {
	Process
	Clocks
	Network
	Chance
	// Identity is the name under which the client acts: its own, or one that it
	// shares with others if the scenario says so. A lock that takes an owner id
	// from its user takes this one.
	Identity() string
	// Spec is the lock part of the scenario: TTL, backoff, clients. A lock that
	// follows it sets [Traits].FollowsSpec.
	Spec() file.LockSpec
	// Point is a named point, at which faults may strike although no time passes
	// there. Its error means that the process has crashed or ended.
	Point(label string) error
}

// Process is a process of a client.
type Process interface {
	// Name is the client's: c0, c1, …
	Name() string
	// Context ends when the client's process crashes or the run is over.
	Context() context.Context
	// OnEnd registers a function that closes something when the run is over.
	OnEnd(f func())
}

// Clocks are those of a client's machine.
type Clocks interface {
	// Clock is monotonic time, by which leases are measured. WallClock may jump: it
	// is for code that uses wall time, which a lock should not (F21).
	Clock() lock.Clock
	WallClock() lock.Clock
}

// Network is how a client reaches the servers.
type Network interface {
	// Address is the address under which a server ("r0", "primary") is dialled. An
	// unknown name is returned unchanged, and fails when it is dialled.
	Address(server string) string
	// Dial opens a connection, and fits the Dialer of most client libraries. addr
	// is a server's name, with or without its port, or its address.
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
}

// Chance is what is random on a client's machine: give each use a name of its own. In the environment of a lock a name
// that is asked for again goes on with its numbers ([Streams]). Elsewhere it begins anew, and what the methods return
// is not safe for concurrent use.
type Chance interface {
	// Source is a source of random numbers for one use, Entropy one of random
	// bytes.
	Source(use string) rand.Source
	Entropy(use string) io.Reader
}

// Store does operations on the protected resource.
type Store interface {
	// Do reads or writes: op is the operation, grant the grant under which it is
	// done. It returns the value that a read has found, the outcome as far as the
	// client can know it, and the reason if it is not OK.
	Do(ctx context.Context, op checker.Op, grant string) (saw string, outcome checker.Outcome, err error)
}
