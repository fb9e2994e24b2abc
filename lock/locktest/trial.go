package locktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"locksim/lock"
)

// trial is one run of a test. Only the test's own goroutine calls the methods that may end it; workers return their
// findings.
type trial struct {
	testing.TB
	Harness
	world    World
	resource string
	ctx      context.Context // bounds every wait of the test
	cancel   context.CancelFunc
	*participants
}

// participants are the clients of a trial, and their grants.
type participants struct {
	mu      sync.Mutex // guards the rest
	clients [clients]*Client
	grants  []grant
}

// tooSlow is the panic of an inconclusive test.
type tooSlow string

// skipped is the panic of a test that the harness cannot make. Skip itself would end the goroutine, which may be one
// of a simulated process.
type skipped string

func newTrial(t testing.TB, h Harness, w World, resource string) *trial {
	s := &trial{TB: t, Harness: h, world: w, resource: resource, participants: &participants{}}
	s.ctx, s.cancel = context.WithTimeout(context.Background(), 20*h.TTL+10*h.Slack)
	return s
}

// end cancels the waiters, heals the network, and releases what is still held: an automatically renewed lease would
// never end.
func (s *trial) end() {
	s.cancel()
	s.mu.Lock()
	clients, grants := s.clients, s.grants
	s.mu.Unlock()
	for _, c := range clients {
		if c != nil && c.Wire != nil {
			c.Wire.Heal()
		}
	}
	for _, g := range grants {
		_ = g.Release(context.Background())
	}
}

// on is the same trial with another resource.
func (s *trial) on(resource string) *trial {
	other := *s
	other.resource = resource
	return &other
}

// Skip ends the test, which the harness cannot make.
func (s *trial) Skip(args ...any) { panic(skipped(fmt.Sprint(args...))) }

// slow ends the test without a conclusion.
func (s *trial) slow(format string, args ...any) { panic(tooSlow(fmt.Sprintf(format, args...))) }

func (s *trial) client(i int) *Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[i] == nil {
		c := s.world.New(s.TB, i)
		s.clients[i] = &c
	}
	return s.clients[i]
}

func (s *trial) locker(i int) lock.Locker { return s.client(i).Locker }

// wire returns the network of client i, and skips the test if there is none.
func (s *trial) wire(i int) *Wire {
	s.Helper()
	w := s.client(i).Wire
	if w == nil {
		s.Skip("the harness has no Wire to lose messages with")
	}
	return w
}

// within returns a context of the test that ends after d.
func (s *trial) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, d)
}

// grant is a lease with the instants of its request and its return.
type grant struct {
	lock.Lease
	client   int
	asked    time.Time
	returned time.Time
}

// ask is Acquire by client i.
func (s *trial) ask(ctx context.Context, l lock.Locker, i int) (grant, error) {
	g := grant{client: i, asked: time.Now()}
	lease, err := l.Acquire(ctx, s.resource)
	g.Lease, g.returned = lease, time.Now()
	return g, s.track(g, err)
}

// track records a grant, so that it is released in the end.
func (s *trial) track(g grant, err error) error {
	if err != nil {
		return err
	}
	if g.Lease == nil {
		return errors.New("neither a lease nor an error was returned")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants = append(s.grants, g)
	return nil
}

// acquire takes the lock for client i.
func (s *trial) acquire(i int) grant {
	s.Helper()
	return s.acquireBy(s.locker(i), i)
}

func (s *trial) acquireBy(l lock.Locker, i int) grant {
	s.Helper()
	g, err := s.ask(s.ctx, l, i)
	if err != nil {
		s.fatal(fmt.Sprintf("c%d: Acquire", i), err)
	}
	return g
}

// fatal ends the test because of an error: without a conclusion for a missing answer, which is not the lock's fault.
func (s *trial) fatal(what string, err error) {
	s.Helper()
	if errors.Is(err, lock.ErrOutcomeUnknown) {
		s.slow("%s: %v", what, err)
	}
	s.Fatalf("%s: %v", what, err)
}

// waiting makes client i wait for the lock. The channel returns its grant, once.
func (s *trial) waiting(i int) <-chan answer { return s.waitingBy(s.ctx, s.locker(i), i) }

func (s *trial) waitingBy(ctx context.Context, l lock.Locker, i int) <-chan answer {
	answers := make(chan answer, 1)
	go func() {
		g, err := s.ask(ctx, l, i)
		answers <- answer{g, err}
	}()
	return answers
}

// answer is the result of a waiter.
type answer struct {
	grant
	err error
}

// granted waits for a waiter's grant.
func (s *trial) granted(from <-chan answer) grant {
	s.Helper()
	a := <-from // its context is bounded
	if a.err != nil {
		s.fatal(fmt.Sprintf("c%d, waiting: Acquire", a.client), a.err)
	}
	return a.grant
}

// release gives a grant back, which must succeed.
func (s *trial) release(g grant) {
	s.Helper()
	s.released(g, g.Release(s.ctx))
}

// released checks the error of a release that must succeed.
func (s *trial) released(g grant, err error) {
	s.Helper()
	if errors.Is(err, lock.ErrNotHeld) && g.over() {
		s.slow("the lease of c%d ended before its release was done", g.client)
	}
	if err != nil {
		s.fatal(fmt.Sprintf("c%d: Release", g.client), err)
	}
}

// over reports whether the lease's validity has ended.
func (g grant) over() bool { return !time.Now().Before(g.Until()) }

// isLost reports whether the holder has been notified of a loss.
func (g grant) isLost() bool {
	select {
	case <-g.Lost():
		return true
	default:
		return false
	}
}

// awaitLoss waits until the holder is notified of the loss.
func (s *trial) awaitLoss(g grant) {
	s.Helper()
	bound := time.NewTimer(time.Until(g.Until()) + s.Slack)
	defer bound.Stop()
	select {
	case <-g.Lost():
	case <-bound.C:
		s.Fatalf("c%d: Lost is open %v after the end of the lease", g.client, time.Since(g.Until()))
	}
}

// abandon makes a lease end without a release, and waits for the notice of the loss.
func abandon(s *trial, g grant) {
	s.Helper()
	if !s.Renews {
		s.awaitLoss(g)
		return
	}
	w := s.wire(g.client)
	w.Cut()
	s.awaitLoss(g)
	w.Heal()
}

// prompt ends the test without a conclusion if f takes so long that it may have waited for a lease to end.
func (s *trial) prompt(what string, f func()) {
	s.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > s.TTL/2 {
		s.slow("%s took %v, with a TTL of %v", what, took, s.TTL)
	}
}

// wantFree fails unless client i gets the lock at once. It releases the lock.
func (s *trial) wantFree(i int) {
	s.Helper()
	s.prompt("taking a lock that is free", func() {
		s.Helper()
		s.release(s.acquire(i))
	})
}

// wantHeld fails if client i gets the lock while g is valid.
func (s *trial) wantHeld(g grant, i int) {
	s.Helper()
	s.wantHeldAgainst(g, s.locker(i), i)
}

func (s *trial) wantHeldAgainst(g grant, l lock.Locker, i int) {
	s.Helper()
	ctx, cancel := s.within(s.TTL / 8)
	defer cancel()
	other, err := s.ask(ctx, l, i)
	if err != nil {
		return
	}
	_ = other.Release(s.ctx)
	if !other.returned.Before(g.Until()) {
		s.slow("the lease of c%d ended while c%d asked for it", g.client, i)
	}
	s.Errorf("c%d was granted the lock while c%d holds it, %v before the end of that lease",
		i, g.client, g.Until().Sub(other.returned))
}

// wantNothingLeft fails unless the servers soon have nothing left for the resource.
func wantNothingLeft(s *trial) {
	s.Helper()
	if s.world.Left == nil {
		return
	}
	var left []string
	for end := time.Now().Add(s.TTL / 2); ; {
		if left = s.world.Left(s.TB, s.resource); len(left) == 0 {
			return
		}
		if !time.Now().Before(end) {
			break
		}
		time.Sleep(s.TTL / 50)
	}
	s.Errorf("left on the servers: %q", left)
}

// want fails unless err wraps target.
func (s *trial) want(what string, err, target error) {
	s.Helper()
	switch {
	case errors.Is(err, target):
	case errors.Is(err, lock.ErrOutcomeUnknown):
		s.slow("%s: %v", what, err)
	default:
		s.Errorf("%s: error %v does not wrap %v", what, err, target)
	}
}
