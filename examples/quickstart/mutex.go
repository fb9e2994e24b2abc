// Package quickstart has a user's lock, and a test of it with locksim: the lock is in
// mutex.go, all of the glue in adapter/adapter.go, and the test in mutex_test.go.
package quickstart

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// TTL is the time after which a lock expires without a release.
const TTL = 2 * time.Second

// Mutex is one grant of a lock in Redis. It does not depend on locksim.
type Mutex struct {
	Client *redis.Client
	Key    string

	owner string
	until time.Time
}

// New returns a mutex on a key, for one owner.
func New(client *redis.Client, key string) *Mutex {
	return &Mutex{Client: client, Key: key, owner: rand.Text()}
}

// Until is the end of the lease.
func (m *Mutex) Until() time.Time { return m.until }

// Lock requests the key until it is granted or ctx ends. The client sends a request again when
// the reply is lost, and finds the key of its own owner then: the first request has set it. A
// request without an answer may have set it, too: Lock takes that back. SET with NX and GET
// needs Redis 7.
func (m *Mutex) Lock(ctx context.Context) error {
	for {
		m.until = time.Now().Add(TTL) // counted from before the request
		has, err := m.Client.SetArgs(ctx, m.Key, m.owner, redis.SetArgs{Mode: "NX", Get: true, TTL: TTL}).Result()
		if errors.Is(err, redis.Nil) || err == nil && has == m.owner {
			return nil
		}
		if err != nil {
			_ = m.Unlock(ctx)
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// compareAndDelete deletes a key if it belongs to the owner.
var compareAndDelete = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
	return redis.call("DEL", KEYS[1])
end
return 0`)

// ErrNotHeld is returned when the lease had ended before.
var ErrNotHeld = errors.New("mutex: not held")

// Unlock deletes the key, unless it belongs to another owner. It goes on when ctx has ended.
func (m *Mutex) Unlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), TTL)
	defer cancel()
	deleted, err := compareAndDelete.Run(ctx, m.Client, []string{m.Key}, m.owner).Int()
	if err == nil && deleted == 0 {
		return ErrNotHeld
	}
	return err
}
