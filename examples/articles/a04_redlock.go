package articles

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// redlock is recipe A4: Redlock over independent nodes, which it asks one after another. It breaks off when half of
// the TTL has passed, and the lease is what is left of the TTL then. There is no margin for clocks that drift, no
// limit on the time of a node, and no second try. The text promises what Redlock promises: one client has the lock
// at a time while a majority of the nodes lives, and clocks may run at somewhat different rates.
//
// Recipe A5 is the same over three nodes.
type redlock struct {
	ctx     context.Context
	now     func() time.Time // time.Now, of which only differences are used
	nodes   []*redis.Client
	key, id string
	ttl     time.Duration
	// until is the end of the lease.
	until time.Time
}

// Lock asks each node once.
func (l *redlock) Lock(time.Duration) (bool, error) {
	start, votes := l.now(), 0
	for _, node := range l.nodes {
		if ok, err := node.SetNX(l.ctx, l.key, l.id, l.ttl).Result(); ok && err == nil {
			votes++
		}
		if l.now().Sub(start) > l.ttl/2 {
			break
		}
	}
	validity := l.ttl - l.now().Sub(start)
	if votes >= len(l.nodes)/2+1 && validity > 0 {
		l.until = l.now().Add(validity)
		return true, nil
	}
	return false, l.Unlock()
}

// Unlock deletes the key on all nodes, where it is that of this object.
func (l *redlock) Unlock() error {
	for _, node := range l.nodes {
		deleteOwn.Run(l.ctx, node, []string{l.key}, l.id)
	}
	return nil
}
