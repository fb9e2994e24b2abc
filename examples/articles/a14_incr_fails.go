package articles

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// minting is recipe A14 with one flaw alone: if the token cannot be had, the key is deleted without a look at whose it
// is. The lease begins before the request, and a token that comes after its end is none. The text promises what that of
// A14 does.
type minting struct {
	ctx    context.Context
	now    func() time.Time // time.Now, of which only differences are used
	client *redis.Client
	ttl    time.Duration
}

// minted is one grant.
type minted struct {
	*minting
	key, id string
	token   int64
	asked   time.Time
}

// Acquire tries a number of times, with a pause that is always the same. It returns nil if another client has the
// lock.
func (m *minting) Acquire(key string, tries int) (*minted, error) {
	for range tries {
		l := &minted{minting: m, key: key, id: newID(), asked: m.now()}
		ok, err := m.client.SetNX(m.ctx, key, l.id, m.ttl).Result()
		if err != nil {
			return nil, err
		}
		if ok {
			if l.token, err = m.client.Incr(m.ctx, "fencing-token").Result(); err != nil {
				m.client.Del(m.ctx, key)
				return nil, err
			}
			if l.Valid() {
				return l, nil
			}
			if err := l.Release(); err != nil {
				return nil, err
			}
		}
		time.Sleep(poll)
	}
	return nil, nil
}

// Valid says whether the lease goes on.
func (l *minted) Valid() bool { return l.now().Sub(l.asked) < l.ttl }

// Release deletes the key, if it is that of this grant.
func (l *minted) Release() error {
	n, err := deleteOwn.Run(l.ctx, l.client, []string{l.key}, l.id).Int()
	if err == nil && n == 0 {
		return errNotOwner
	}
	return err
}
