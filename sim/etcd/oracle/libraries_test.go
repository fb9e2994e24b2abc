package oracle_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"locksim/internal/soak"
)

// What locksim says of the Mutex and the Election of etcd's package concurrency is so on the real server too, in plain
// Go.
func TestLibraries(t *testing.T) {
	for _, story := range []struct {
		name string
		tell func(t *testing.T, client func() *clientv3.Client)
	}{
		{"a grant that arrives after the end of the session", grantAfterTheSession},
		{"an election that is won after the end of the session", electedAfterTheSession},
		{"an unlock under a context that has ended", unlockUnderAnEndedContext},
	} {
		t.Run(story.name, func(t *testing.T) {
			t.Run("in a bubble", func(t *testing.T) {
				inBubble(t, func(dial dialer) {
					story.tell(t, func() *clientv3.Client { return dial(t, nil) })
				})
			})
			t.Run("on real members", func(t *testing.T) {
				soak.RealTime(t)
				first := cluster(t)
				story.tell(t, func() *clientv3.Client {
					c, err := clientv3.New(clientv3.Config{Endpoints: first.Endpoints(), Logger: zap.NewNop()})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = c.Close() })
					return c
				})
			})
		})
	}
}

// session is a session of a client of its own.
func session(t *testing.T, c *clientv3.Client) *concurrency.Session {
	t.Helper()
	s, err := concurrency.NewSession(c, concurrency.WithTTL(30))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// grantAfterTheSession: the last answer to Lock is under way, as during a pause of the client; its session ends, and
// another client gets the lock. Lock returns as granted, and its revision is lower than that of the other.
func grantAfterTheSession(t *testing.T, client func() *clientv3.Client) {
	ctx := context.Background()
	late := client()
	answer := &lateAnswer{KV: late.KV, asked: make(chan struct{}), hold: make(chan struct{})}
	late.KV = answer
	before, paused, after := session(t, client()), session(t, late), session(t, client())
	first := concurrency.NewMutex(before, "lock")
	must(t, first.Lock(ctx))

	waiting := concurrency.NewMutex(paused, "lock")
	granted := make(chan error, 1)
	go func() { granted <- waiting.Lock(ctx) }()
	<-waits(ctx, before.Client(), "lock/", 2)
	must(t, first.Unlock(ctx))
	<-answer.asked
	_, err := after.Client().Revoke(ctx, paused.Lease())
	must(t, err)

	second := concurrency.NewMutex(after, "lock")
	must(t, second.Lock(ctx))
	close(answer.hold)
	if err := <-granted; err != nil {
		t.Errorf("Lock returned %v, want a grant: its key was there when it asked", err)
	}
	if mine, others := waiting.Header().Revision, second.Header().Revision; mine >= others {
		t.Errorf("the late grant has revision %d, and the one before it %d: want a lower one, which a fence refuses", mine,
			others)
	}
}

// electedAfterTheSession: a candidate's session ends while it waits. Campaign waits for those before it, and does not
// look whether its own key is still there (F56): it returns as elected, and so does that of the candidate behind it.
func electedAfterTheSession(t *testing.T, client func() *clientv3.Client) {
	ctx := context.Background()
	leader, ended, next := session(t, client()), session(t, client()), session(t, client())
	first := concurrency.NewElection(leader, "lead")
	must(t, first.Campaign(ctx, "first"))
	results := make(chan error, 2)
	for i, s := range []*concurrency.Session{ended, next} {
		e := concurrency.NewElection(s, "lead")
		go func() { results <- e.Campaign(ctx, "candidate") }()
		<-waits(ctx, leader.Client(), "lead/", i+2)
	}
	_, err := leader.Client().Revoke(ctx, ended.Lease())
	must(t, err)
	must(t, first.Resign(ctx))
	for range 2 {
		if err := <-results; err != nil {
			t.Errorf("Campaign returned %v, want both candidates to be told that they are elected", err)
		}
	}
}

// unlockUnderAnEndedContext: the key stays, and the session keeps it alive (F29).
func unlockUnderAnEndedContext(t *testing.T, client func() *clientv3.Client) {
	ctx := context.Background()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	holder, other := session(t, client()), session(t, client())
	m := concurrency.NewMutex(holder, "lock")
	must(t, m.Lock(ctx))
	if err := m.Unlock(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Unlock returned %v, want %v", err, context.Canceled)
	}
	if err := concurrency.NewMutex(other, "lock").TryLock(ctx); !errors.Is(err, concurrency.ErrLocked) {
		t.Errorf("another client's TryLock returned %v, want %v", err, concurrency.ErrLocked)
	}
	must(t, holder.Close())
	must(t, concurrency.NewMutex(other, "lock").TryLock(ctx))
}

// waits is closed when a number of keys begin with a prefix.
func waits(ctx context.Context, c *clientv3.Client, prefix string, keys int) <-chan struct{} {
	there := make(chan struct{})
	go func() {
		for { // the test ends with the program, if they never are
			if r, err := c.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly()); err == nil &&
				int(r.Count) >= keys {
				close(there)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return there
}

// lateAnswer holds the answer to the first read of a single key.
type lateAnswer struct {
	clientv3.KV
	asked, hold chan struct{}
	once        sync.Once
}

func (l *lateAnswer) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	r, err := l.KV.Get(ctx, key, opts...)
	if op := clientv3.OpGet(key, opts...); op.RangeBytes() == nil {
		l.once.Do(func() {
			close(l.asked)
			<-l.hold
		})
	}
	return r, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
