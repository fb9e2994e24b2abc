package lock

import (
	"context"
	"fmt"
	"sync/atomic"
)

// quorumLease is a lease that can be extended a limited number of times.
type quorumLease struct {
	*lease
	max      int64
	extended atomic.Int64 // extensions that have worked, and those in flight
}

// Extend renews the lease on every node that still has it, and moves Until when that is a majority. A
// node that has lost the key is not given it again (F05). A majority that has lost it ends the lease.
//
// The error wraps [ErrExtensionLimit] after RedlockOptions.MaxExtensions, and [ErrNoQuorum] when nodes
// failed and it is not known who has a majority; the lease is then as valid as before.
func (l *quorumLease) Extend(ctx context.Context) error {
	if l.extended.Add(1) > l.max {
		l.extended.Add(-1)
		return fmt.Errorf("extend %s: %w of %d", l.claim.resource, ErrExtensionLimit, l.max)
	}
	err := l.lease.Extend(ctx)
	if err != nil {
		l.extended.Add(-1)
	}
	return err
}
