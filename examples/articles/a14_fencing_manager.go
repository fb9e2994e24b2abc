package articles

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// manager is recipe A14: a lock with fencing tokens from one counter for all keys, which is counted up when the key
// has been taken. Its lease begins with the answer. The text promises that one client has the lock at a time, that
// a later holder has a higher token, and that a store which compares them refuses what is late.
type manager struct {
	ctx    context.Context
	now    func() time.Time // time.Now, of which only differences are used
	client *redis.Client
	ttl    time.Duration
}

// fenced is one grant.
type fenced struct {
	*manager
	key, id    string
	token      int64
	acquiredAt time.Time
}

// Acquire tries a number of times, with a pause that is always the same. It returns nil if another client has the
// lock.
func (m *manager) Acquire(key string, tries int) (*fenced, error) {
	for range tries {
		l := &fenced{manager: m, key: key, id: newID()}
		ok, err := m.client.SetNX(m.ctx, key, l.id, m.ttl).Result()
		if err != nil {
			return nil, err
		}
		if ok {
			if l.token, err = m.client.Incr(m.ctx, "fencing-token").Result(); err != nil {
				m.client.Del(m.ctx, key)
				return nil, err
			}
			l.acquiredAt = m.now()
			return l, nil
		}
		time.Sleep(poll)
	}
	return nil, nil
}

// Valid says whether the lease goes on.
func (l *fenced) Valid() bool { return l.now().Sub(l.acquiredAt) < l.ttl }

// Release deletes the key, if it is that of this grant.
func (l *fenced) Release() error {
	n, err := deleteOwn.Run(l.ctx, l.client, []string{l.key}, l.id).Int()
	if err == nil && n == 0 {
		return errNotOwner
	}
	return err
}
