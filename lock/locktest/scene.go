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

// scene is one test at work. Only the test's own goroutine calls the methods that may fail it for good;
// workers hand their findings back.
type scene struct {
	testing.TB
	Harness
	world    World
	resource string
	ctx      context.Context // bounds every wait of the test
	cancel   context.CancelFunc
	*cast
}

// cast is who plays in a scene, and what they were granted.
type cast struct {
	mu      sync.Mutex // guards the rest
	clients [clients]*Client
	grants  []grant
}

// tooSlow is what a test panics with that can conclude nothing.
type tooSlow string

func newScene(t testing.TB, h Harness, w World, resource string) *scene {
	s := &scene{TB: t, Harness: h, world: w, resource: resource, cast: &cast{}}
	s.ctx, s.cancel = context.WithTimeout(context.Background(), 20*h.TTL+10*h.Slack)
	return s
}

// end sends the waiters away, makes the network whole, and gives back what is still held: a lease that
// renews itself would go on for ever.
func (s *scene) end() {
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

// on is the same scene about another resource.
func (s *scene) on(resource string) *scene {
	other := *s
	other.resource = resource
	return &other
}

// slow ends the test without a conclusion.
func (s *scene) slow(format string, args ...any) { panic(tooSlow(fmt.Sprintf(format, args...))) }

// client returns client number i, made when it is first asked for.
func (s *scene) client(i int) *Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[i] == nil {
		c := s.world.New(s.TB, i)
		s.clients[i] = &c
	}
	return s.clients[i]
}

func (s *scene) locker(i int) lock.Locker { return s.client(i).Locker }

// wire returns the network of client i, and skips the test where there is none.
func (s *scene) wire(i int) *Wire {
	s.Helper()
	w := s.client(i).Wire
	if w == nil {
		s.Skip("the harness has no Wire to lose messages with")
	}
	return w
}

// within returns a context of the test that ends after d.
func (s *scene) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, d)
}

// grant is a lease with the instants between which it was asked for and returned.
type grant struct {
	lock.Lease
	client   int
	asked    time.Time
	returned time.Time
}

// ask is Acquire by client i.
func (s *scene) ask(ctx context.Context, l lock.Locker, i int) (grant, error) {
	g := grant{client: i, asked: time.Now()}
	lease, err := l.Acquire(ctx, s.resource)
	g.Lease, g.returned = lease, time.Now()
	return g, s.keepTrack(g, err)
}

// keepTrack remembers a grant, so that it is given back in the end.
func (s *scene) keepTrack(g grant, err error) error {
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
func (s *scene) acquire(i int) grant {
	s.Helper()
	return s.acquireBy(s.locker(i), i)
}

func (s *scene) acquireBy(l lock.Locker, i int) grant {
	s.Helper()
	g, err := s.ask(s.ctx, l, i)
	if err != nil {
		s.fatal(fmt.Sprintf("c%d: Acquire", i), err)
	}
	return g
}

// fatal ends the test because of an error: without a conclusion if it is that no answer came, for which the
// lock cannot help.
func (s *scene) fatal(what string, err error) {
	s.Helper()
	if errors.Is(err, lock.ErrOutcomeUnknown) {
		s.slow("%s: %v", what, err)
	}
	s.Fatalf("%s: %v", what, err)
}

// waiting lets client i wait for the lock. The channel gives its grant, once.
func (s *scene) waiting(i int) <-chan answer { return s.waitingBy(s.ctx, s.locker(i), i) }

func (s *scene) waitingBy(ctx context.Context, l lock.Locker, i int) <-chan answer {
	answers := make(chan answer, 1)
	go func() {
		g, err := s.ask(ctx, l, i)
		answers <- answer{g, err}
	}()
	return answers
}

// answer is what a waiter was told.
type answer struct {
	grant
	err error
}

// granted waits for a waiter's grant.
func (s *scene) granted(from <-chan answer) grant {
	s.Helper()
	a := <-from // its context is bounded
	if a.err != nil {
		s.fatal(fmt.Sprintf("c%d, waiting: Acquire", a.client), a.err)
	}
	return a.grant
}

// release gives a grant back, which must succeed.
func (s *scene) release(g grant) {
	s.Helper()
	s.released(g, g.Release(s.ctx))
}

// released judges the error of a release that must succeed.
func (s *scene) released(g grant, err error) {
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

// isLost reports whether the holder has been told of a loss.
func (g grant) isLost() bool {
	select {
	case <-g.Lost():
		return true
	default:
		return false
	}
}

// awaitLoss waits until the holder is told of the loss.
func (s *scene) awaitLoss(g grant) {
	s.Helper()
	bound := time.NewTimer(time.Until(g.Until()) + s.Slack)
	defer bound.Stop()
	select {
	case <-g.Lost():
	case <-bound.C:
		s.Fatalf("c%d: Lost is open %v after the end of the lease", g.client, time.Since(g.Until()))
	}
}

// abandon lets a lease end without a release, and the holder learn of it.
func abandon(s *scene, g grant) {
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

// prompt fails the test if f takes so long that it can have waited for a lease to end.
func (s *scene) prompt(what string, f func()) {
	s.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > s.TTL/2 {
		s.slow("%s took %v, with a TTL of %v", what, took, s.TTL)
	}
}

// wantFree fails unless client i gets the lock at once. It gives it back.
func (s *scene) wantFree(i int) {
	s.Helper()
	s.prompt("taking a lock that is free", func() {
		s.Helper()
		s.release(s.acquire(i))
	})
}

// wantHeld fails if client i gets the lock while g is valid.
func (s *scene) wantHeld(g grant, i int) {
	s.Helper()
	s.wantHeldAgainst(g, s.locker(i), i)
}

func (s *scene) wantHeldAgainst(g grant, l lock.Locker, i int) {
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

// wantNothingLeft fails unless the servers come to hold nothing for the resource.
func wantNothingLeft(s *scene) {
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
	s.Errorf("left behind: %q", left)
}

// want fails unless err wraps target.
func (s *scene) want(what string, err, target error) {
	s.Helper()
	switch {
	case errors.Is(err, target):
	case errors.Is(err, lock.ErrOutcomeUnknown):
		s.slow("%s: %v", what, err)
	default:
		s.Errorf("%s: error %v does not wrap %v", what, err, target)
	}
}
