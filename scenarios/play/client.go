package play

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// errCrashed ends the work of a client whose process has crashed.
var errCrashed = errors.New("the process has crashed")

// client runs the workload of one process: acquire, read, work, write, release,
// think. Every step is a mark in the trace, and so a seam and an event at which a
// fault may strike. A process that restarts after a crash has a new client, without
// the state of the first.
type client struct {
	play   *play
	proc   Machine
	view   View
	locker lock.Locker
	data   subject.Store // that of the database of the lock; nil if the data is in s0
	owned  lock.Owned    // for an owner of each round; nil if all have one
	life   int           // how often the process had been started before
	rounds int
	value  string // the register of the value that the round fills, in a workload that does
	dice   *rand.Rand
	start  time.Duration
	tries  bool            // it does not wait for the lock
	owed   []*grant        // whose releases failed, to be called again later
	later  []chan struct{} // each is closed when releases that were called again have ended

	grants   []*grant
	attempts []attempt
	tried    []checker.Try
	granted  int // how many grants the process has had, over its restarts
	ops      int // and operations
	// lapsed are the instants at which the lock was granted to the client although
	// its process, or its worker, had ended by then.
	lapsed  []time.Duration
	gaveUp  time.Duration // when it first gave up an operation in the transaction that has its lock; 0 for never
	longest time.Duration // of its sections
	misuse  error         // the first mistake in what the user says of the lock
	partial atomic.Bool
	working atomic.Bool // its workload has not ended
	// inSection says that it is in a section of the lock.
	inSection atomic.Bool
}

// attempt is an Acquire without a grant.
type attempt struct {
	checker.Attempt
	ended *atomic.Int64 // see [play.watchEnd]; nil if the context had not ended when Acquire returned
}

// grant is a grant with what was done under it. The fields that a relay writes are
// read when the run is over.
type grant struct {
	client *client // whose it is
	checker.Grant
	id       string // unique in a run; it identifies the grant to the store
	steps    steps
	ops      []checker.Op
	sent     *checker.Op // the operation that has not ended; nil for none
	lease    lock.Lease
	store    subject.Store  // of the protected data
	pending  []int          // the indices of writes that take effect with the release
	calls    []checker.Call // those of the lease that returned
	lossSeen atomic.Bool    // the client has observed the loss
	// lossChecked is when a check of a section met the loss.
	lossChecked checker.Pos
	// request is the context that the round serves; nil for an inner section.
	request context.Context
	ended   *atomic.Int64 // as that of an attempt
	over    *atomic.Int64 // as that, of the context of the lease; nil if the lock does not promise anything about it
	unwatch func()        // ends the watch over the lease

	overAtOnce bool          // its validity had ended when Acquire returned
	lostAtOnce bool          // its loss had been announced by then
	returnedAt time.Duration // when Acquire returned
	lostBefore bool          // the loss was known before the last answer: see [Knowing]
	expired    atomic.Bool   // its validity has ended

	values     atomic.Int32                  // that its Lost had, in place of being closed
	calledBack func() (started, stopped int) // nil if no election calls back
}

func newClient(p *play, proc Machine, i int) (*client, error) {
	locker, err := p.newLocker(proc)
	if err != nil {
		return nil, err
	}
	c := &client{play: p, proc: proc, view: proc.View(), locker: locker, dice: rand.New(proc.Source("workload"))}
	for _, before := range p.clients {
		if before.proc.Name() == proc.Name() {
			c.life++
		}
	}
	if err := errors.Join(c.own(), c.openData()); err != nil {
		return nil, err
	}
	w := p.sc.Workload
	number := slices.IndexFunc(p.world.Clients(), func(m Machine) bool { return m.Name() == proc.Name() })
	if c.tries = w.Tries && number%2 == 1; c.tries {
		if _, ok := c.locker.(lock.Trier); !ok {
			return nil, p.sc.ErrorAt(p.sc.Pos("workload.tries"), "workload.tries: lock %s has no TryAcquire: leave this out",
				p.lock.Name)
		}
	}
	c.start = time.Duration(i) * w.Stagger
	if w.Stagger == 0 {
		c.start = c.upTo(w.Think)
	}
	return c, nil
}

// newLocker makes the lock of a machine.
func (p *play) newLocker(m Machine) (l lock.Locker, err error) {
	m.Do(func() { l, err = p.lock.New(p.env(m)) })
	return l, err
}

// env is the environment of the lock on a machine.
func (p *play) env(m Machine) subject.Env {
	return env{
		Machine: m, identity: p.identity(m.Name()), spec: p.sc.Lock, asked: &p.asked, streams: subject.Streams(m),
	}
}

// identity is the owner id of a client, for locks that take one.
func (p *play) identity(name string) string {
	switch p.sc.Lock.Owner {
	case file.OwnerShared:
		return sharedIdentity
	case file.OwnerAlike:
		for i, m := range p.world.Clients() {
			if m.Name() == name {
				return resembling(i)
			}
		}
	}
	return name
}

// sharedIdentity is the identity of all clients that share an owner id.
const sharedIdentity = "everybody"

// alike are identities that resemble each other: a lock that compares a part of them, or reads them as a number, a
// pattern or in one case, confuses them.
var alike = []string{"1", "10", "11", "1a", "1A", "01", "1.0", "1 ", "*", "1%", "c0", "１", "1:1", "[1]", "-1", "1e0"}

// resembling is the identity of a client by its number. Those that come after alike are like these, with another digit
// in place of 1, or with more of their last character.
func resembling(client int) string {
	id, more := alike[client%len(alike)], client/len(alike)
	other := strings.NewReplacer("1", fmt.Sprint(1+more), "１", string(rune('１'+more))).Replace(id)
	if other == id {
		other += strings.Repeat(id[len(id)-1:], more)
	}
	return other
}

// own gives a reentrant lock its owner, if the scenario needs owners. A lock without owners is entered again all the
// same, as code does that has forgotten that it has it.
func (c *client) own() error {
	p, path := c.play, "workload.nested"
	if p.lock.Section.Run != nil && p.sc.Workload.Nested > 0 {
		return p.sc.ErrorAt(p.sc.Pos(path), "%s: lock %s has a Section of its own, which has no section within it: leave "+
			"this out", path, p.lock.Name)
	}
	if p.lock.Section.Run != nil && p.sc.Workload.Beside {
		path := "workload.beside"
		return p.sc.ErrorAt(p.sc.Pos(path), "%s: lock %s has a Section of its own, which has one lock: leave this out", path,
			p.lock.Name)
	}
	asked := p.sc.Lock.Owner == file.OwnerShared || p.sc.Lock.Owner == file.OwnerRound
	if !asked && p.sc.Workload.Nested == 0 {
		return nil
	}
	owned, ok := c.locker.(lock.Owned)
	if !ok && asked {
		path := "lock.owner"
		return p.sc.ErrorAt(p.sc.Pos(path), "%s: lock %s has no owners: choose a reentrant kind, or leave this out", path,
			p.lock.Name)
	}
	if !ok {
		if !p.ownerless { // the first client says so, before others run
			p.ownerless = true
		}
		return nil
	}
	if p.sc.Lock.Owner == file.OwnerRound {
		c.owned = owned
	}
	c.locker = owned.As(p.identity(c.proc.Name()))
	return nil
}

// ownRound gives a lock the owner of a round, which no other round has, also after a
// restart of the process.
func (c *client) ownRound() {
	if c.owned != nil {
		c.rounds++
		c.locker = c.owned.As(fmt.Sprintf("%s/%d/%d", c.proc.Name(), c.life, c.rounds))
	}
}

// upTo draws a duration up to d.
func (c *client) upTo(d time.Duration) time.Duration {
	return time.Duration(c.dice.Int64N(int64(d) + 1))
}

// work is the whole workload, after which a process ends that was asked to.
func (c *client) work() {
	c.working.Store(true)
	defer c.working.Store(false)
	c.roundByRound()
	for _, ended := range c.later {
		<-ended
	}
	c.proc.Exit()
}

// roundByRound does the rounds. It returns at a crash, or when the process is asked to end.
func (c *client) roundByRound() {
	if c.pass(c.start) != nil {
		return
	}
	for round := range c.play.sc.Workload.Rounds {
		if round > 0 && c.pass(c.think()) != nil {
			return
		}
		c.value = value(round)
		if err := c.round(); err != nil {
			return
		}
	}
}

func (c *client) sleep(d time.Duration) error { return c.proc.Clock().Sleep(c.proc.Context(), d) }

// errAsked ends the work of a client whose process was asked to end.
var errAsked = errors.New("the process was asked to end")

// pass is sleep, and returns errAsked when the process is asked to end.
func (c *client) pass(d time.Duration) error {
	err := c.proc.Clock().Sleep(c.proc.Notice(), d)
	if err != nil && c.asked() {
		return errAsked
	}
	return err
}

// asked says that the process was asked to end, and is still there.
func (c *client) asked() bool {
	return c.proc.Notice().Err() != nil && c.proc.Context().Err() == nil && !c.view.Crashed()
}

// round is one guarded section, which is done again while its write is refused, if there is no lock.
func (c *client) round() error {
	resource, left := c.pick(c.play.resources()), c.play.lock.Tries()
	for {
		refused, err := c.guarded(resource)
		if left--; err != nil || !refused || c.play.lock.Tries() == 1 {
			return err
		}
		if left == 0 {
			return c.point(trace.PointGaveUp)
		}
		if err := c.pass(c.upTo(c.play.sc.Lock.Backoff.Max)); err != nil {
			return err
		}
	}
}

// guarded is one guarded section. refused says that the store refused its last operation. Only a crash, or a lock that
// cannot be acquired, is an error; everything else is part of the story.
func (c *client) guarded(resource string) (refused bool, err error) {
	ctx, giveUp := context.WithCancel(c.proc.Notice())
	stop := c.proc.Clock().AfterFunc(c.play.acquireLimit()+offBeat, giveUp)
	request, end := c.within(ctx, c.play.sc.Workload.Request)
	defer end()
	c.ownRound()
	g, err := c.acquire(request, outer, resource)
	stop()
	if g == nil || err != nil {
		return false, errors.Join(err, ctx.Err())
	}
	g.request = request
	defer g.unwatch()
	if err := g.section(); err != nil || g.Released != 0 {
		return false, err
	}
	n := len(g.ops)
	return n > 0 && g.ops[n-1].Outcome == checker.OutcomeRefused, g.release()
}

// pick draws the resource of a round.
func (c *client) pick(resources []string) string {
	if len(resources) == 1 {
		return resources[0]
	}
	return resources[c.dice.IntN(len(resources))]
}

// offBeat is how much later a context of the driver ends than the scenario says. A lock begins its timers in the
// instant of the call, as the driver does, and for whole milliseconds mostly: if both ended in one instant, a select
// over the two would take either.
const offBeat = 137 * time.Nanosecond

// within is a context that ends after d, and [offBeat]: by a deadline, or by being cancelled. If d is 0
// it ends with ctx.
func (c *client) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	d += offBeat
	switch {
	case c.play.sc.Workload.Deadline:
		return withDeadline(ctx, d)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := c.proc.Clock().AfterFunc(d, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// acquire returns nil if the lock was not granted, and an error if the process has
// crashed.
func (c *client) acquire(ctx context.Context, s steps, resource string) (*grant, error) {
	invoked, err := c.proc.Mark(trace.Mark{Step: s.acquire, Resource: resource})
	if err != nil {
		return nil, err
	}
	if s == outer {
		c.releaseLater()
	}
	ctx, end := c.within(ctx, c.play.sc.Workload.AcquireWithin)
	ctx = context.WithValue(ctx, acquireKey{}, c.nextGrant())
	ended := c.play.watchEnd(ctx)
	lease, called, err := c.ask(ctx, invoked, resource)
	if !hasEnded(ctx) {
		ended = nil
	}
	// not in this instant, in which the client goes on: which of the two is first would be open
	if c.play.sc.Workload.AcquireWithin > 0 {
		c.proc.Clock().AfterFunc(time.Microsecond, end)
	}
	if err != nil {
		return nil, c.notGranted(ctx, resource, invoked, ended, err)
	}
	if lease == nil {
		panic(fmt.Sprintf("the Acquire of lock %s returned neither a lease nor an error", c.play.lock.Name))
	}
	g, err := c.begin(s, resource, invoked, called, formed(c.play.lock.Lock, lease, called, c.play.sc.Lock.TTL,
		c.view.Now))
	if g != nil {
		g.ended, g.store = ended, c.storeOf(lease)
		if l, ok := lease.(caller); ok {
			g.calledBack = l.CalledBack
		}
		if l, ok := lease.(Knowing); ok && c.play.real {
			g.lostBefore = l.LostBefore()
		}
	}
	return g, err
}

// ask asks for the lock, and returns when it began the call that was answered. A client that tries asks again when the
// lock is taken. It waits as others do if the lock is made of one that can't try.
func (c *client) ask(ctx context.Context, invoked checker.Pos,
	resource string) (l lock.Lease, called time.Time, err error) {
	for backoff := c.play.sc.Lock.Backoff.Max; c.tries; {
		called = c.view.Now()
		try := checker.Try{Client: c.proc.Name(), Resource: checker.Resource(resource), Invoked: invoked,
			Called: c.play.world.Now()}
		l, err = c.locker.(lock.Trier).TryAcquire(ctx, resource)
		if errors.Is(err, errors.ErrUnsupported) {
			break
		}
		try.Returned, try.Taken = c.play.world.Now(), c.play.lock.SaysTaken(err)
		c.tried = append(c.tried, try)
		if !try.Taken {
			return l, called, err
		}
		if over := c.proc.Clock().Sleep(ctx, c.upTo(backoff)); over != nil {
			return nil, called, over
		}
	}
	called = c.view.Now()
	l, err = c.locker.Acquire(ctx, resource)
	return l, called, err
}

// watchEnd stores the instant at which ctx ends. It is read when the run is over.
func (p *play) watchEnd(ctx context.Context) *atomic.Int64 {
	at := new(atomic.Int64)
	context.AfterFunc(ctx, func() { at.Store(int64(p.world.Now())) })
	return at
}

// left is what is left of the validity of a lease now; nil if its end is not known.
func (c *client) left(l lock.Lease) *time.Duration {
	until := l.Until()
	if until.IsZero() {
		return nil
	}
	d := until.Sub(c.view.Now())
	return &d
}

// nextGrant is the id of the next grant of the process.
func (c *client) nextGrant() string { return fmt.Sprintf("%s.g%d", c.proc.Name(), c.granted+1) }

// begin makes a grant of a lease that was asked for at the instant called, and watches the lease from now on: the
// client may be paused before its next step.
func (c *client) begin(s steps, resource string, invoked checker.Pos, called time.Time,
	lease lock.Lease) (*grant, error) {
	id := c.nextGrant()
	c.granted++
	g := &grant{client: c, lease: lease, steps: s, id: id,
		Grant: checker.Grant{Client: c.proc.Name(), Resource: checker.Resource(resource), Token: lease.Token(),
			Invoked: invoked}}
	g.ExpiredAtCall = c.play.lock.Lease != subject.LeaseHeld && !called.Before(lease.Until())
	g.overAtOnce, g.lostAtOnce, g.returnedAt = isOver(lease, c.view.Now()), g.isLost(), c.play.world.Now()
	g.Left = c.left(lease)
	if slices.Contains(c.play.lock.Promise.Duties, promise.DutyReports) {
		g.over = new(atomic.Int64)
		if ctx := lease.Context(); ctx != nil { // a lease without one breaks the duty
			g.over = c.play.watchEnd(ctx)
		}
	}
	known := make(chan struct{})
	g.unwatch = g.watchLease(known)
	granted, err := c.proc.Mark(trace.Mark{Step: s.granted, Resource: resource, Token: lease.Token()})
	if err != nil {
		c.lapsed = append(c.lapsed, c.play.world.Now())
		g.unwatch()
		return nil, err
	}
	g.Granted = granted
	g.inspect()
	if c.play.lock.Tokens && g.Token == 0 && !c.play.keeps() { // with that promise it is a violation
		_ = c.mistaken("lock %s says Tokens, and the lease that %s was granted on %s at step %d has the token 0, which is "+
			"no token: return the fencing token of the grant from Token(), or leave out Tokens if the lock mints none",
			c.play.lock.Name, g.Client, trace.Name(resource), granted)
	}
	if endless(c.play.lock.Lock, lease) {
		_ = c.mistaken("the lease of %s on %s, of step %d, has no end: its Until is the zero time. Set Lease in the "+
			"Traits of %s: LeaseCounted, with LeaseTTL, for leases that last for a TTL from the call of Acquire; "+
			"LeaseHeld, with Detection, for those that last until they are released or Lost is closed, such as that of a "+
			"session. Or let Until return the instant of the request plus the TTL",
			g.Client, trace.Name(resource), granted, c.play.lock.Name)
	}
	close(known)
	c.grants = append(c.grants, g)
	return g, nil
}

func (c *client) notGranted(ctx context.Context, resource string, invoked checker.Pos, ended *atomic.Int64,
	cause error) error {
	unexplained := ended != nil && ctx.Err() != nil && !errors.Is(cause, ctx.Err())
	if c.view.Crashed() {
		return errCrashed
	}
	returned, err := c.proc.Mark(trace.Mark{Step: trace.NotGranted, Problem: cause.Error()})
	if err != nil {
		return err
	}
	outcome := checker.OutcomeFailed
	if errors.Is(cause, lock.ErrOutcomeUnknown) {
		outcome = checker.OutcomeUnknown
	}
	a := checker.Attempt{Client: c.proc.Name(), Resource: checker.Resource(resource),
		Invoked: invoked, Returned: returned, Outcome: outcome, Unexplained: unexplained, Taken: c.play.lock.SaysTaken(cause)}
	if !a.Taken && (ended == nil || unexplained) {
		a.Error = errorText(cause)
	}
	c.attempts = append(c.attempts, attempt{a, ended})
	return nil
}

// errorText is the text of an error on one line, or its beginning.
func errorText(err error) string { return prose.Clip(trace.Readable(err.Error()), 200) }

// release releases the lock, under the context of the request if the scenario has one, or
// if the process was asked to end and that context with it, and else under that of the
// process.
func (g *grant) release() error {
	c := g.client
	n, err := g.step(trace.Mark{Step: g.steps.release, Resource: string(g.Resource)})
	if err != nil {
		return err
	}
	g.Released = n
	cause := g.give()
	for range c.play.retries() {
		if !fails(cause) {
			break
		}
		if err := c.sleep(c.play.sc.Lock.Backoff.Min); err != nil {
			return err
		}
		cause = g.give()
	}
	m := trace.Mark{Step: g.steps.released, Resource: string(g.Resource)}
	if cause != nil {
		m.Problem = cause.Error()
	}
	if n, err = c.proc.Mark(m); err != nil {
		return err
	}
	g.ReleaseReturned = n
	g.ReleaseSucceeded, g.ReleaseFailed, g.ReleaseNotHeld = cause == nil, excusable(cause),
		errors.Is(cause, lock.ErrNotHeld)
	g.settle(cause)
	g.inspectRelease(cause)
	if c.play.sc.Workload.Release == file.ReleaseLater && fails(cause) {
		c.owed = append(c.owed, g)
	}
	return nil
}

// fails reports whether a release with this error is to be called again.
func fails(cause error) bool { return cause != nil && !errors.Is(cause, lock.ErrNotHeld) }

// releaseLater calls the releases that failed again, on another goroutine, within the work that comes next.
func (c *client) releaseLater() {
	if len(c.owed) == 0 {
		return
	}
	owed, after, ended := c.owed, c.upTo(c.play.sc.Lock.Backoff.Max+c.play.sc.Workload.Hold), make(chan struct{})
	c.owed, c.later = nil, append(c.later, ended)
	c.proc.Go(func() {
		defer close(ended)
		if c.pass(after) != nil {
			return
		}
		for _, g := range owed {
			if g.releaseAgain() != nil {
				return
			}
		}
	})
}

// releaseAgain calls a release again until it is answered. What the judge knows of the end of the grant is that of the
// first call. The error is that of a process that has ended, or is to.
func (g *grant) releaseAgain() error {
	c := g.client
	for range repeats {
		if err := c.point(trace.PointReleaseAgain); err != nil {
			return err
		}
		ctx, called := c.proc.Context(), c.play.world.Now()
		cause := g.lease.Release(ctx)
		g.returned(ctx, "Release", called, called+evidence.ReturnsWithin(c.play.sc, c.play.lock.Promise), cause)
		m := trace.Mark{Step: trace.Point, Label: trace.PointReleasedAgain}
		if cause != nil {
			m.Label, m.Problem = trace.PointNotReleasedAgain, cause.Error()
		}
		if _, err := c.proc.Mark(m); err != nil || !fails(cause) {
			return err
		}
		if err := c.pass(c.play.sc.Lock.Backoff.Min); err != nil {
			return err
		}
	}
	return nil
}

// give calls Release once.
func (g *grant) give() error {
	c := g.client
	ctx, end := c.within(g.releaseContext(), c.play.sc.Workload.ReleaseWithin)
	defer end()
	called := c.play.world.Now()
	g.ReleaseContextOver = hasEnded(ctx)
	err := g.lease.Release(ctx)
	g.returned(ctx, "Release", called, called+evidence.ReturnsWithin(c.play.sc, c.play.lock.Promise), err)
	g.ReleaseContextEnded = hasEnded(ctx)
	return err
}

// returned notes a call of a lease that returned now, with the instant by which it had to; 0 if there is none.
func (g *grant) returned(ctx context.Context, what string, called, due time.Duration, err error) {
	c := g.client
	call := checker.Call{Client: g.Client, Resource: g.Resource, What: what, About: g.Granted, Called: called, Due: due,
		Returned: c.play.world.Now(), ContextEnded: hasEnded(ctx)}
	switch {
	case c.view.Crashed() || errors.Is(err, errors.ErrUnsupported):
	case err == nil:
		call.Result = checker.ResultDone
	case errors.Is(err, lock.ErrNotHeld):
		call.Result = checker.ResultNotHeld
	case errors.Is(err, lock.ErrExtensionLimit):
		call.Result = checker.ResultRefused
	default:
		call.Result, call.Error = checker.ResultFailed, errorText(err)
	}
	if what == "Extend" && call.Result == checker.ResultDone {
		call.Left = c.left(g.lease)
	}
	g.calls = append(g.calls, call)
}

// repeats is how often a release that failed is called again, where it is.
const repeats = 3

func (g *grant) releaseContext() context.Context {
	c := g.client
	if g.request != nil && (c.play.sc.Workload.Request > 0 || c.asked()) {
		return g.request
	}
	return c.proc.Context()
}

// excusable reports whether a release with this error may have left the key behind,
// until its TTL, through no fault of the lock. A cancelled context is no excuse: a
// release has to go on after it (F29).
func excusable(cause error) bool {
	return cause != nil && !errors.Is(cause, lock.ErrNotHeld) && !errors.Is(cause, context.Canceled)
}
