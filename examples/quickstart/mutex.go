// Package quickstart puts a lock of one's own under test with locksim: the lock
// is in mutex.go, all of the glue in mutex_test.go.
package quickstart

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/redis/go-redis/v9"
)

// TTL is how long a lock lives that nobody releases.
const TTL = 2 * time.Second

// Mutex is one grant of a lock in Redis. It knows nothing of locksim.
type Mutex struct {
	client     *redis.Client
	key, owner string
	until      time.Time
}

// New makes a mutex on a key, for one owner.
func New(client *redis.Client, key string) *Mutex {
	return &Mutex{client: client, key: key, owner: rand.Text()}
}

// Lock asks for the key until it gets it, or ctx ends.
func (m *Mutex) Lock(ctx context.Context) error {
	for {
		m.until = time.Now().Add(TTL) // counted from before the request
		ok, err := m.client.SetNX(ctx, m.key, m.owner, TTL).Result()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// compareAndDelete deletes a key only while it is its owner's.
var compareAndDelete = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0`)

// Unlock gives the key back, unless it is another's by now.
func (m *Mutex) Unlock(ctx context.Context) error {
	return compareAndDelete.Run(ctx, m.client, []string{m.key}, m.owner).Err()
}
