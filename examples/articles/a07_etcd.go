package articles

import (
	"context"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// session is recipe A7: a session and a mutex of etcd's package concurrency in one object. The text promises that
// one client has the lock at a time, since etcd is consistent, that the session renews its lease by itself, and
// that a crash frees the lock after the TTL.
type session struct {
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

func newSession(client *clientv3.Client, key string, ttl time.Duration) (*session, error) {
	s, err := concurrency.NewSession(client, concurrency.WithTTL(int(ttl.Seconds())))
	if err != nil {
		return nil, err
	}
	return &session{s, concurrency.NewMutex(s, key)}, nil
}

// Lock waits until it has the lock, or the context ends.
func (l *session) Lock(ctx context.Context) error { return l.mutex.Lock(ctx) }

// Unlock gives the lock back.
func (l *session) Unlock(ctx context.Context) error { return l.mutex.Unlock(ctx) }

// Close ends the session, when the object is needed no more.
func (l *session) Close() error { return l.session.Close() }
