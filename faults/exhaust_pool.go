package faults

import (
	"context"
	"fmt"
	"time"

	"locksim/lock/promise"
)

// ExhaustPool lets other work of a process hold every connection of its Redis
// pools. Whoever wants one waits, a renewal and a release included (F49).
type ExhaustPool struct {
	// Process is whose pools are empty: "c0".
	Process string
	// For is how long they stay so, in virtual time. 0 means until the world is
	// healed at the end of the workload.
	For time.Duration
}

// PoolExhauster is a world whose processes have pools of connections.
type PoolExhauster interface {
	// ExhaustPool takes every connection of the process's Redis pools, and gives
	// them back after d, or when the world is healed if d is 0. A connection
	// that is in use is taken as soon as it is free. It does not wait for any of
	// that. It returns an error when there is no such process.
	ExhaustPool(process string, d time.Duration) error
}

// Pool is a pool of connections of a client library, which other work of a process
// may take away. Packages that make such clients tell the world of their pools.
type Pool interface {
	// Size is how many connections it has at the most.
	Size() int
	// Take takes one of them and keeps it until ctx ends. It returns an error
	// where there is none to be had.
	Take(ctx context.Context) error
	// Asked counts the commands that have asked for a connection, those of Take
	// left out. Any goroutine may call it.
	Asked() int64
	// Dirty reports whether a command may have had to wait for a connection: some
	// libraries then keep a timer for the next run, which must not meet it.
	Dirty() bool
}

// PoolWaiter is a [Pool] that can tell when a command has to wait since every connection is in
// use, by other work of the process or by connections that were not given back.
type PoolWaiter interface {
	Pool
	// Waits counts the commands that have had to wait for a connection. Any goroutine may call it.
	Waits() int64
}

// Kind is "exhaust_pool".
func (ExhaustPool) Kind() string { return "exhaust_pool" }

func (e *ExhaustPool) form() Form {
	return Form{
		Text:   "other work of a process holds every connection to Redis",
		Class:  promise.Pool,
		Fields: []Field{{"process", Name{To: &e.Process, Role: Clients}, "whose pools are empty"}, lasts(&e.For)},
	}
}

// Apply asks a PoolExhauster for it.
func (e ExhaustPool) Apply(world any) error {
	return ask(e, world, func(w PoolExhauster) error { return w.ExhaustPool(e.Process, e.For) })
}

// String is "exhaust the pools of c0 for 15s".
func (e ExhaustPool) String() string {
	return fmt.Sprintf("exhaust the pools of %s %s", e.Process, length(e.For))
}
