// Package libraries puts libraries that nobody adapted on trial: they draw from global
// random sources, dial by themselves and read time.Now. With the build overlay of locksim
// all of that belongs to the simulated process that runs them.
//
//	go test $(go tool locksim overlay) .
package libraries

import (
	"context"
	"time"
)

// ttl is the length of a lease of all libraries.
const ttl = 10 * time.Second

// heldLease is a lock that its holder has until its context ends.
type heldLease struct {
	held    context.Context
	release func()
}

func (l *heldLease) Token() uint64                 { return 0 }
func (l *heldLease) Until() time.Time              { return time.Time{} }
func (l *heldLease) Lost() <-chan struct{}         { return l.held.Done() }
func (l *heldLease) Context() context.Context      { return l.held }
func (l *heldLease) Release(context.Context) error { l.release(); return nil }
