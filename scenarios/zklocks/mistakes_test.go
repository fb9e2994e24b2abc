package zklocks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/checker"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/zklocks"
	"locksim/sim/zookeeper"
)

// wrong is the lock with a mistake.
func wrong(mistake func(e scenarios.Env, inner lock.Locker) (lock.Locker, error)) scenarios.Lock {
	l := zklocks.Lock()
	right := l.New
	l.Name, l.Promise.Duties = "zookeeper-wrong", nil
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		inner, err := right(e)
		if err != nil {
			return nil, err
		}
		return mistake(e, inner)
	}
	return l
}

// leases is a lock whose leases are others.
type leases struct {
	lock.Locker
	change func(lock.Lease) lock.Lease
}

func (m leases) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := m.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return m.change(l), nil
}

func changed(change func(lock.Lease) lock.Lease) scenarios.Lock {
	return wrong(func(_ scenarios.Env, inner lock.Locker) (lock.Locker, error) { return leases{inner, change}, nil })
}

// longer claims the lock for a minute after its lease.
type longer struct{ lock.Lease }

func (l longer) Until() time.Time    { return l.Lease.Until().Add(time.Minute) }
func (longer) Lost() <-chan struct{} { return nil }

// falling has tokens that become smaller.
type falling struct{ lock.Lease }

func (f falling) Token() uint64 { return 1<<62 - f.Lease.Token() }

// kept is not given back, and says that it was.
type kept struct{ lock.Lease }

func (kept) Release(context.Context) error { return nil }

// jumping takes a ticket, and gets the lock in any order: the tickets are the queue that it says it has.
type jumping struct {
	inner lock.Trier
	conn  *zk.Conn
	env   scenarios.Env
}

const tickets = "/tickets"

func overtaking() scenarios.Lock {
	l := wrong(func(e scenarios.Env, inner lock.Locker) (lock.Locker, error) {
		c, err := zookeeper.Connect(e, 30*time.Second, nil, "z0", "z1", "z2")
		return &jumping{inner.(lock.Trier), c, e}, err
	})
	l.Queue = func(string) string { return tickets + "/*" }
	return l
}

// Acquire asks the less often the sooner it has come.
func (j *jumping) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	if _, err := j.conn.Create(tickets, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return nil, err
	}
	ticket, err := j.conn.Create(tickets+"/t-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return nil, err
	}
	number := 0
	_, _ = fmt.Sscanf(ticket, tickets+"/t-%d", &number)
	for {
		l, err := j.inner.TryAcquire(ctx, resource)
		if err == nil {
			return &ticketed{l, j.conn, ticket}, nil
		}
		if err := j.env.Clock().Sleep(ctx, 50*time.Millisecond+time.Duration(3-number%4)*time.Second); err != nil {
			_ = j.conn.Delete(ticket, -1)
			return nil, err
		}
	}
}

// ticketed gives its ticket back with its release.
type ticketed struct {
	lock.Lease
	conn   *zk.Conn
	ticket string
}

func (l *ticketed) Release(ctx context.Context) error {
	_ = l.conn.Delete(l.ticket, -1)
	return l.Lease.Release(ctx)
}

// A lock on ZooKeeper that breaks its promise is found, that of order too. The right one, searched in the same way, is
// not.
func TestMistakesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		l    scenarios.Lock
		want checker.Label // of a violation; "" for none
	}{
		"right":                      {changed(func(l lock.Lease) lock.Lease { return l }), ""},
		"claims beyond its lease":    {changed(func(l lock.Lease) lock.Lease { return longer{l} }), checker.Overlap},
		"tokens that become smaller": {changed(func(l lock.Lease) lock.Lease { return falling{l} }), checker.FalseReject},
		"kept after its release":     {changed(func(l lock.Lease) lock.Lease { return kept{l} }), checker.Stuck},
		"granted in any order":       {overtaking(), checker.Overtaken},
	} {
		t.Run(name, func(t *testing.T) {
			space, err := search.Discover(c.l, spaces.Space{})
			if err != nil {
				t.Fatal(err)
			}
			found := map[checker.Label]int{}
			for trial := range search.Trials(c.l, search.Drawn(c.l, space, outcome.Seeds{First: 1, Last: 200})) {
				if trial.Err != nil {
					t.Fatal(trial.Err)
				}
				for _, v := range trial.Violations {
					found[v.Label]++
				}
				if found[c.want] > 0 {
					break
				}
			}
			if c.want == "" && len(found) > 0 || c.want != "" && found[c.want] == 0 {
				t.Errorf("violations %v, want %q", found, c.want)
			}
		})
	}
}
