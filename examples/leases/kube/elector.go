package kube

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/sim/kube"
)

// namespace is that of all leases.
const namespace = "default"

// Times are those of an elector: the fields of leaderelection.LeaderElectionConfig with these names.
type Times struct{ LeaseDuration, RenewDeadline, RetryPeriod time.Duration }

// Validate returns the error with which an elector refuses the times, or one that says that the record would have
// another LeaseDuration.
func (t Times) Validate() error {
	if t.LeaseDuration%time.Second != 0 {
		return fmt.Errorf("a LeaseDuration of %v: give whole seconds, which is what a record has", t.LeaseDuration)
	}
	_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		LeaseDuration: t.LeaseDuration, RenewDeadline: t.RenewDeadline, RetryPeriod: t.RetryPeriod,
		Lock: &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "validate"}},
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {},
			OnStoppedLeading: func() {}},
	})
	return err
}

// apart keeps timers from ending in one instant: five retry periods, or two requests, are a renew deadline otherwise,
// and which of two timers of one instant comes first is the scheduler's choice.
const apart = time.Millisecond

// shortest is the least duration of a lease. An elector takes a record for renewed when its renewTime has changed by a
// second, which may be a second after the renewal: a leader that gives up after eight tenths of a lease, as ours, is in
// time from five seconds on.
const shortest = 5 * time.Second

// timesOf are those of a TTL and a least duration, in the proportions of the defaults: 15 s, 10 s and 2 s. A record has
// its duration in whole seconds, so that is what a lease has: an elector with another duration than that which it
// writes may lead for longer than others wait.
func timesOf(ttl, least time.Duration) Times {
	lease := max(ttl.Truncate(time.Second), least)
	return Times{LeaseDuration: lease, RenewDeadline: lease * 2 / 3, RetryPeriod: lease*2/15 + apart}
}

// What users of an elector choose besides its LeaseDuration, which is the TTL of a scenario. client-go refuses a
// LeaseDuration that is not longer than the RenewDeadline, and a RenewDeadline that is not longer than 1.2 RetryPeriods
// (leaderelection.JitterFactor).
var (
	renewDeadline = scenarios.Setting{
		Name: "renew_deadline", Elsewhere: "RenewDeadline", Doc: "how long a leader tries to renew before it gives up",
		Default: func(ttl time.Duration) time.Duration { return timesOf(ttl, shortest).RenewDeadline },
		Least:   time.Millisecond, Below: []scenarios.Bound{{Of: "ttl", Because: "client-go refuses that"}},
	}
	retryPeriod = scenarios.Setting{
		Name: "retry_period", Elsewhere: "RetryPeriod", Doc: "how long it waits between two tries",
		Default: func(ttl time.Duration) time.Duration { return timesOf(ttl, shortest).RetryPeriod - apart },
		Least:   time.Millisecond, Below: []scenarios.Bound{{Of: renewDeadline.Name, Times: leaderelection.JitterFactor,
			Because: "client-go refuses that"}},
	}
)

// timesIn are those of a scenario that has settings.
func timesIn(spec file.LockSpec) Times {
	t := Times{LeaseDuration: spec.TTL, RenewDeadline: renewDeadline.In(spec), RetryPeriod: retryPeriod.In(spec) + apart}
	if t.Validate() != nil {
		t.RetryPeriod -= apart
	}
	return t
}

// tuned are the traits of an election with the settings of a scenario.
func tuned(t scenarios.Traits, spec file.LockSpec) scenarios.Traits {
	t.GrantTime = max(t.GrantTime, 3*retryPeriod.In(spec))
	t.Servers = slices.Clone(t.Servers)
	t.Servers[0].Kind.Settles = max(settles, requestLimit(timesIn(spec))+5*retryPeriod.In(spec))
	return t
}

// connect makes a client of the API servers as components of Kubernetes have one for their elections: a request ends
// after half of the renew deadline, as resourcelock.NewFromKubeconfig has it.
func connect(e scenarios.Env, limit time.Duration) (coordination.LeasesGetter, error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			return e.Dial(ctx, network, e.Address(kube.Balancer))
		},
		DisableCompression: true,
	}
	e.OnEnd(transport.CloseIdleConnections)
	return coordination.NewForConfig(&rest.Config{
		Host: "http://" + kube.Balancer, Transport: transport, Timeout: limit, UserAgent: "locksim",
	})
}

// dialTimeout is that of client-go where a configuration has no dialer.
const dialTimeout = 30 * time.Second

// locker campaigns for leases, one elector for each Acquire.
type locker struct {
	env    scenarios.Env
	client coordination.LeasesGetter
	times  Times
	manner manner

	mu      sync.Mutex
	entropy io.Reader
}

// manner is what users of an elector do in different ways. The zero value is right.
type manner struct {
	keeps  bool  // ReleaseOnCancel is not set: a lease that is given up runs out
	waits  bool  // requests have no time limit of their own, and nothing tells whether a release succeeded
	same   bool  // all campaigns of all processes have one identity
	deaf   bool  // it does not look for the end
	cached bool  // after the end, the holder believes what a cache says
	short  bool  // a lease may last for a second
	times  Times // in place of those of the TTL
}

func open(e scenarios.Env, m manner) (*locker, error) {
	t := timesOf(e.Spec().TTL, shortest)
	if m.short {
		t = timesOf(e.Spec().TTL, time.Second)
	}
	if len(e.Spec().Settings) > 0 {
		t = timesIn(e.Spec())
	}
	if m.times != (Times{}) {
		t = m.times
		t.RetryPeriod += apart
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	limit := requestLimit(t)
	if m.waits {
		limit = 0
	}
	c, err := connect(e, limit)
	if err != nil {
		return nil, err
	}
	return &locker{env: e, client: c, times: t, manner: m, entropy: e.Entropy("identity")}, nil
}

// requestLimit is how long a request may take.
func requestLimit(t Times) time.Duration { return max(t.RenewDeadline/2, time.Second) + apart }

// identity is that of one campaign: the name of the process, and a random part, as components of Kubernetes have it.
func (l *locker) identity() (string, error) {
	if l.manner.same {
		return "controller", nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var id [8]byte
	if _, err := io.ReadFull(l.entropy, id[:]); err != nil {
		return "", fmt.Errorf("make an identity: %w", err)
	}
	return l.env.Identity() + "_" + hex.EncodeToString(id[:]), nil
}

// Acquire implements [lock.Locker]: it runs an elector until it leads. One that is given up may have written the
// record, which nothing takes back then.
func (l *locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	id, err := l.identity()
	if err != nil {
		return nil, err
	}
	r := &record{LeaseLock: &resourcelock.LeaseLock{
		LeaseMeta: meta.ObjectMeta{Namespace: namespace, Name: Name(resource)}, Client: l.client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: id},
	}}
	term := scenarios.NewTerm()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: r, LeaseDuration: l.times.LeaseDuration, RenewDeadline: l.times.RenewDeadline,
		RetryPeriod:     l.times.RetryPeriod,
		ReleaseOnCancel: !l.manner.keeps,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				_ = l.env.Clock().Sleep(ctx, apart) // the elector renews at once, on a goroutine of its own
				term.Started()
			},
			OnStoppedLeading: term.Stopped,
		},
	})
	if err != nil {
		return nil, err
	}
	life, resign := context.WithCancel(klog.NewContext(l.env.Context(), logr.Discard()))
	go elector.Run(life)
	select {
	case <-term.Leads():
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		resign()
		<-term.Over()
		return nil, fmt.Errorf("campaign for %s: %w: %w", resource, lock.ErrOutcomeUnknown, err)
	}
	g := scenarios.Grant{
		Until: l.untold(), Token: r.token(), Term: term,
		Unlock: func(context.Context) error {
			over := isClosed(term.Over())
			resign()
			<-term.Over()
			switch {
			case over:
				return lock.ErrNotHeld
			// by what it knows, the record has its identity, and runs out
			case elector.IsLeader() && !l.manner.keeps && !l.manner.waits:
				return fmt.Errorf("give up the lease of %s: %w", resource, lock.ErrOutcomeUnknown)
			}
			return nil
		},
	}
	switch {
	case l.manner.deaf:
		g.Term = nil
	case l.manner.cached:
		lost := make(chan struct{})
		g.Lost = lost
		go l.believe(life, resource, id, term.Over(), lost)
	}
	return scenarios.NewLease(ctx, l.env, g), nil
}

// untold is the end of a lease that its holder has until it is told otherwise: after the end of every run.
func (l *locker) untold() func() time.Time {
	until := l.env.Clock().Now().Add(10_000 * time.Hour)
	return func() time.Time { return until }
}

// believe closes lost when an elector has stopped and a cache names another holder than its own.
func (l *locker) believe(ctx context.Context, resource, id string, stopped <-chan struct{}, lost chan<- struct{}) {
	<-stopped
	for ctx.Err() == nil {
		found, err := l.client.Leases(namespace).Get(ctx, Name(resource), meta.GetOptions{ResourceVersion: "0"})
		if err == nil && *found.Spec.HolderIdentity != id {
			close(lost)
			return
		}
		if l.env.Clock().Sleep(ctx, l.times.RetryPeriod) != nil {
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// record is a LeaseLock of client-go, and remembers what its elector has written.
type record struct {
	*resourcelock.LeaseLock

	mu          sync.Mutex
	transitions int
}

// Create implements [resourcelock.Interface].
func (r *record) Create(ctx context.Context, n resourcelock.LeaderElectionRecord) error {
	return r.written(n, r.LeaseLock.Create(ctx, n))
}

// Update implements [resourcelock.Interface].
func (r *record) Update(ctx context.Context, n resourcelock.LeaderElectionRecord) error {
	return r.written(n, r.LeaseLock.Update(ctx, n))
}

func (r *record) written(n resourcelock.LeaderElectionRecord, err error) error {
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.transitions = n.LeaderTransitions
	}
	return err
}

// token is the number of transitions, and one more: that of the first leader is 0, which is no token.
func (r *record) token() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return uint64(r.transitions) + 1
}
