package sqllock

import (
	"context"
	crand "crypto/rand"
	"io"
	"math/rand/v2"
	"time"
)

// This file has all that comes from the machine: the deadlines of statements, as database/sql has them, and randomness.

// detached returns a context with the values of ctx that ends after d, independently of ctx.
func detached(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}

// patient is the context of a statement that waits for a lock. A database that has not answered a TTL after the end of
// the wait has lost its power, or its memory of the connection: nothing else tells a client that only waits for an
// answer.
func patient(life context.Context, wait, ttl time.Duration) (context.Context, context.CancelFunc) {
	if wait == 0 {
		return context.WithCancel(life)
	}
	return context.WithTimeout(life, wait+ttl)
}

// left is the time until the deadline of ctx, if it has one.
func left(ctx context.Context) (d time.Duration, ok bool) {
	deadline, ok := ctx.Deadline()
	return time.Until(deadline), ok
}

func defaultJitter() rand.Source { return rand.NewPCG(rand.Uint64(), rand.Uint64()) }

func defaultEntropy() io.Reader { return crand.Reader }
