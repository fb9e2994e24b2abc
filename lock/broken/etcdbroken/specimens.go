package etcdbroken

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/lock"
	"locksim/lock/broken/polling"
)

// Specimen is one mistake, with its properties.
type Specimen struct {
	// Name is the name of the lock, after "broken/" in flags and scenario files.
	Name string
	// ID is its entry in the catalogue of failure modes, such as F57; "" if it has none.
	ID string
	// Wrong says in one sentence what is wrong.
	Wrong string
	// Tokens says that its leases carry fencing tokens.
	Tokens bool
	// Held says that its leases have no end that the holder knows: it takes the lock for its own until it releases it.
	Held bool

	mistake mistake
}

// mistake replaces a step of the lock. What is nil is right.
type mistake struct {
	// enter puts the key with a lease, if it is not there.
	enter func(ctx context.Context, client *clientv3.Client, key string, id clientv3.LeaseID) (revision int64,
		granted bool, err error)
	// until is the end of the lease.
	until func(sent, answered time.Time, ttl time.Duration) time.Time
	// token is the fencing token.
	token func(id clientv3.LeaseID, revision int64) uint64
}

// Options configure a specimen. All are required.
type Options struct {
	// TTL is that of the lease in etcd: a whole number of seconds.
	TTL time.Duration
	// Backoff is the time between two tries.
	Backoff lock.Backoff
	// Clock is the source of time, Jitter that of the random times.
	Clock  lock.Clock
	Jitter rand.Source
	// Point is called with the label "leased" once a lease is granted, where a fault can be applied although no time
	// passes.
	Point func(label string)
}

// All lists the specimens. The caller owns the slice.
func All() []Specimen {
	return []Specimen{
		{
			Name: "etcd-put-without-compare", ID: "F03",
			Wrong: "It looks whether the key is there, and puts it with a second request, so that two clients may put it.",
			mistake: mistake{enter: func(ctx context.Context, client *clientv3.Client, key string, id clientv3.LeaseID) (int64,
				bool, error) {
				there, err := client.Get(ctx, key)
				if err != nil || len(there.Kvs) > 0 {
					return 0, false, err
				}
				put, err := client.Put(ctx, key, "", clientv3.WithLease(id))
				if err != nil {
					return 0, false, err
				}
				return put.Header.Revision, true, nil
			}},
		},
		{
			Name: "etcd-never-renewed", ID: "F70", Tokens: true, Held: true,
			Wrong: "No client keeps its lease alive, and its holder takes the lock for its own until the release.",
		},
		{
			Name: "etcd-until-from-answer", ID: "F38",
			Wrong: "It counts its lease from the answer of etcd on, which counts from the request.",
			mistake: mistake{until: func(_, answered time.Time, ttl time.Duration) time.Time {
				return answered.Add(ttl)
			}},
		},
		{
			Name: "etcd-lease-as-token", ID: "F09", Tokens: true,
			Wrong: "Its fencing token is the id of the lease, which begins with that of the member and does not grow.",
			mistake: mistake{token: func(id clientv3.LeaseID, _ int64) uint64 {
				return uint64(id)
			}},
		},
	}
}

// New returns the lock of one client. It sends nothing.
func (s Specimen) New(client *clientv3.Client, o Options) (lock.Locker, error) {
	if client == nil || o.TTL < time.Second || o.Clock == nil || o.Jitter == nil || o.Point == nil {
		return nil, errors.New("make broken/" + s.Name + ": a client, a TTL of a second or more, a Clock, a Jitter and a " +
			"Point are needed")
	}
	m := s.mistake
	if m.enter == nil {
		m.enter = enter
	}
	if m.until == nil {
		m.until = func(sent, _ time.Time, ttl time.Duration) time.Time { return sent.Add(ttl) }
	}
	if m.token == nil {
		m.token = func(_ clientv3.LeaseID, revision int64) uint64 { return uint64(revision) }
	}
	return &poller{Specimen: s, mistake: m, client: client, opt: o, polling: polling.New(o.Clock, o.Backoff, o.Jitter,
		nil)}, nil
}

// enter is the right way: one transaction.
func enter(ctx context.Context, client *clientv3.Client, key string,
	id clientv3.LeaseID) (revision int64, granted bool, err error) {
	r, err := client.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "", clientv3.WithLease(id))).
		Commit()
	if err != nil {
		return 0, false, err
	}
	return r.Header.Revision, r.Succeeded, nil
}
