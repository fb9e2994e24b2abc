package broken

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F62: what a client remembers of its lock survives the release, and the client is stuck.
var wedgedAfterRelease = Specimen{
	Mistake: mistake.WedgedAfterRelease,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		// Wrong:
		return newRemembering(nodes[0], o, func(func()) {})
		// Right: return newRemembering(nodes[0], o, func(forget func()) { forget() })
	},
}

// remembering is a lock that refuses at once to lock what its client has locked already.
type remembering struct {
	*poller
	mu  *sync.Mutex     // guards has
	has map[string]bool // the keys that the client has, as far as it remembers
}

// newRemembering makes the lock; released decides what a release, whatever its outcome, does about what is remembered.
func newRemembering(node redis.Cmdable, o Options, released func(forget func())) lock.Locker {
	r := remembering{mu: new(sync.Mutex), has: map[string]bool{}}
	free := func(ctx context.Context, c claim) error {
		released(func() { r.remember(c.key, false) })
		return deleteOwn(ctx, node, c)
	}
	r.poller = newOnNode(o, protocol{grant: grantBySetNX(node, o.TTL), release: free, back: releaseOwn(node)})
	return r
}

// Acquire implements lock.Locker.
func (r remembering) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	c, err := r.claim(resource, "")
	if err != nil {
		return nil, err
	}
	if !r.remember(c.key, true) {
		return nil, fmt.Errorf("acquire %s: this client has it already", resource)
	}
	l, err := r.acquire(ctx, resource, c.owner)
	if err != nil {
		r.remember(c.key, false)
		return nil, err
	}
	return l, nil
}

// remember sets whether the client has a key, and reports whether that is new.
func (r remembering) remember(key string, has bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	isNew := r.has[key] != has
	r.has[key] = has
	return isNew
}
