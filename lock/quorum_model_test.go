package lock_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"locksim/internal/soak"
	"locksim/lock"
)

// votingModel is a simple model of a fenced lock with leases on some nodes, of which a majority decides, with renewals
// if the kind has them. One node is a majority of itself, so it models Single and Fenced too.
type votingModel struct {
	kind  votingKind
	nodes []*modelNode
}

// votingKind is a kind of lock with its durations.
type votingKind struct {
	name    string
	make    func([]lock.Redis) (lock.Locker, error)
	nodes   int
	fenced  bool
	watched bool

	validity time.Duration // of a grant or a renewal
	maxHold  time.Duration // of a watched lease; 0: no limit
}

// modelNode is the state of a node.
type modelNode struct {
	holder  *modelLease // nil: there is no key
	expires time.Time
	counter uint64
	down    bool // it answers every request with an error
}

// modelLease is the expected state of a lease.
type modelLease struct {
	lease    lock.Lease
	owner    string
	die      context.CancelFunc // ends the holder
	crashed  bool
	lost     bool
	released bool  // Release was called
	done     bool  // Release has returned result
	result   error // nil or ErrNotHeld

	end  time.Time // of the validity of the last grant or renewal
	next time.Time // when the watchdog renews
	last time.Time // when MaxHold is over; zero: never
}

const modelTTL = 3 * time.Second

func (k votingKind) interval() time.Duration { return k.validity / 3 }
func (k votingKind) retry() time.Duration    { return k.validity / 3 / 4 }
func (k votingKind) margin() time.Duration   { return k.validity / 10 }

// until is the lease's Until.
func (m *votingModel) until(h *modelLease) time.Time {
	if !m.kind.watched {
		return h.end
	}
	until := h.end.Add(-m.kind.margin())
	if !h.last.IsZero() && until.After(h.last) {
		return h.last
	}
	return until
}

func (m *votingModel) majority() int { return len(m.nodes)/2 + 1 }

// ballot asks each node that is not down.
func (m *votingModel) ballot(ask func(n *modelNode) bool) (yes, no, down int) {
	for _, n := range m.nodes {
		switch {
		case n.down:
			down++
		case ask(n):
			yes++
		default:
			no++
		}
	}
	return yes, no, down
}

// expire removes the keys that have expired by then.
func (m *votingModel) expire(now time.Time) {
	for _, n := range m.nodes {
		if n.holder != nil && !now.Before(n.expires) {
			n.holder = nil
		}
	}
}

// verdict is the result of a request.
type verdict string

const (
	agreed    verdict = "agreed"
	refused   verdict = "refused"
	undecided verdict = "undecided"
)

// grant is a try to acquire the lock.
func (m *votingModel) grant(h *modelLease, now time.Time) (token uint64, v verdict) {
	m.expire(now)
	yes, _, down := m.ballot(func(n *modelNode) bool { return n.holder == nil })
	switch {
	case yes >= m.majority():
	case down > len(m.nodes)-m.majority():
		return 0, undecided
	default:
		return 0, refused
	}
	granted := func(n *modelNode) bool { return !n.down && n.holder == nil }
	for _, n := range m.nodes {
		if granted(n) {
			token = max(token, n.counter+1)
		}
	}
	for _, n := range m.nodes {
		if granted(n) {
			n.holder, n.expires, n.counter = h, now.Add(modelTTL), token
		}
	}
	m.renewed(h, now)
	if m.kind.maxHold > 0 {
		h.last = now.Add(m.kind.maxHold)
	}
	if !m.kind.fenced {
		token = 0
	}
	return token, agreed
}

func (m *votingModel) renewed(h *modelLease, now time.Time) {
	h.end, h.next = now.Add(m.kind.validity), now.Add(m.kind.interval())
}

// extend is a renewal, by Extend or by the watchdog.
func (m *votingModel) extend(h *modelLease, now time.Time) verdict {
	if m.over(h, now) {
		return refused
	}
	yes, no, _ := m.ballot(func(n *modelNode) bool {
		mine := n.holder == h && now.Before(n.expires)
		if mine {
			n.expires = now.Add(modelTTL)
		}
		return mine
	})
	switch {
	case yes >= m.majority():
		m.renewed(h, now)
		return agreed
	case no > len(m.nodes)-m.majority():
		h.lost = true
		return refused
	}
	return undecided
}

// over records a loss by the passing of time.
func (m *votingModel) over(h *modelLease, now time.Time) bool {
	if !h.released && !now.Before(m.until(h)) {
		h.lost = true
	}
	return h.lost || h.released
}

// release deletes the keys that the lease still has.
func (m *votingModel) release(h *modelLease, now time.Time) verdict {
	m.expire(now)
	if !m.over(h, now) {
		h.released = true
	}
	yes, no, down := m.ballot(func(n *modelNode) bool {
		mine := n.holder == h
		if mine {
			n.holder = nil
		}
		return mine
	})
	switch {
	case no > len(m.nodes)-m.majority():
		h.done, h.result = true, lock.ErrNotHeld
		return refused
	case down == 0 && yes >= m.majority():
		h.done = true
		return agreed
	}
	return undecided
}

// runWatchdogs applies the renewals of the watchdogs until now.
func (m *votingModel) runWatchdogs(all []*modelLease, now time.Time) {
	if !m.kind.watched {
		return
	}
	for _, h := range all { // renewals of different leases use different keys
		for !h.crashed && !h.next.After(now) && !m.over(h, h.next) && !m.until(h).Equal(h.last) {
			if sent := h.next; m.extend(h, sent) == undecided {
				h.next = sent.Add(m.kind.retry())
			}
		}
	}
}

// votingMachine drives locks of one kind together with the model.
type votingMachine struct {
	*rapid.T
	nodes []*miniredis.Miniredis
	locks []lock.Locker
	model *votingModel
	all   []*modelLease
}

func newVotingMachine(t *rapid.T, k votingKind) *votingMachine {
	m := &votingMachine{T: t, model: &votingModel{kind: k}}
	for range k.nodes {
		node := miniredis.NewMiniRedis()
		node.ClockTTL(true)
		m.nodes = append(m.nodes, node)
		m.model.nodes = append(m.model.nodes, &modelNode{})
	}
	for range 2 {
		var clients []lock.Redis
		for _, node := range m.nodes {
			c := redis.NewClient(quiet(&wire{node: node}))
			t.Cleanup(func() { _ = c.Close() })
			clients = append(clients, c)
		}
		l, err := k.make(clients)
		if err == nil && k.watched {
			l, err = lock.NewWatchdog(l, lock.WatchdogOptions{MaxHold: k.maxHold})
		}
		if err != nil {
			t.Fatal(err)
		}
		m.locks = append(m.locks, l)
	}
	t.Cleanup(func() {
		for _, h := range m.all {
			h.die()
		}
		time.Sleep(2 * modelTTL) // the leases end
		for _, node := range m.nodes {
			node.Close()
		}
	})
	return m
}

// want fails unless the error is of that verdict.
func (m *votingMachine) want(what string, err error, v verdict, no error) {
	m.Helper()
	var bad bool
	switch v {
	case agreed:
		bad = err != nil
	case refused:
		bad = !errors.Is(err, no) || errors.Is(err, lock.ErrNoQuorum)
	case undecided:
		bad = err == nil || errors.Is(err, no) || errors.Is(err, lock.ErrOutcomeUnknown)
	}
	if bad {
		m.Fatalf("%s: %v; want that it is %s", what, err, v)
	}
}

func (m *votingMachine) try() {
	h := &modelLease{}
	token, v := m.model.grant(h, time.Now())
	var holder context.Context
	holder, h.die = context.WithCancel(m.Context())
	l := rapid.SampledFrom(m.locks).Draw(m.T, "lock").(lock.Trier)
	lease, err := l.TryAcquire(lock.WithHolder(m.Context(), holder), resource)
	m.want("try", err, v, lock.ErrTaken)
	if v != agreed {
		h.die()
		return
	}
	if lease.Token() != token {
		m.Fatalf("token %d, want %d", lease.Token(), token)
	}
	h.lease = lease
	m.all = append(m.all, h)
	for i, n := range m.model.nodes {
		if n.holder == h {
			h.owner, _ = m.nodes[i].Get(lock.DefaultKeyPrefix + "{" + resource + "}")
		}
	}
}

// some draws a lease whose holder has not crashed.
func (m *votingMachine) some() *modelLease {
	var alive []*modelLease
	for _, h := range m.all {
		if !h.crashed {
			alive = append(alive, h)
		}
	}
	if len(alive) == 0 {
		m.Skip("no lease")
	}
	return rapid.SampledFrom(alive).Draw(m.T, "lease")
}

func (m *votingMachine) extend() {
	h := m.some()
	m.want("extend", extend(m.Context(), h.lease), m.model.extend(h, time.Now()), lock.ErrNotHeld)
}

func (m *votingMachine) release() {
	h := m.some()
	err := h.lease.Release(m.Context())
	if h.done {
		if !errors.Is(err, h.result) {
			m.Fatalf("second release: %v, want %v", err, h.result)
		}
		return
	}
	m.want("release", err, m.model.release(h, time.Now()), lock.ErrNotHeld)
}

func (m *votingMachine) crash() {
	h := m.some()
	h.crashed = true
	h.die()
}

func (m *votingMachine) node() int { return rapid.IntRange(0, len(m.nodes)-1).Draw(m.T, "node") }

// forget restarts a node without its data.
func (m *votingMachine) forget() {
	i := m.node()
	m.nodes[i].FlushAll()
	*m.model.nodes[i] = modelNode{down: m.model.nodes[i].down}
}

func (m *votingMachine) stall() {
	i := m.node()
	m.nodes[i].SetError("LOADING Redis is loading the dataset in memory")
	m.model.nodes[i].down = true
}

func (m *votingMachine) recover() {
	i := m.node()
	m.nodes[i].SetError("")
	m.model.nodes[i].down = false
}

func (m *votingMachine) sleep() {
	d := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{time.Second, modelTTL}),
		rapid.Map(rapid.IntRange(1, 4000), func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }),
	).Draw(m.T, "step")
	time.Sleep(d)
	synctest.Wait()
	m.model.runWatchdogs(m.all, time.Now())
}

// check compares the nodes, and the state of each lease, with the model.
func (m *votingMachine) check() {
	synctest.Wait()
	now := time.Now()
	m.model.expire(now)
	key := lock.DefaultKeyPrefix + "{" + resource + "}"
	for i, n := range m.model.nodes {
		owner, _ := m.nodes[i].Get(key)
		want := ""
		if n.holder != nil {
			want = n.holder.owner
		}
		if owner != want {
			m.Fatalf("r%d is held by %q, want %q", i, owner, want)
		}
		if left := m.nodes[i].TTL(key); want != "" && left != n.expires.Sub(now) {
			m.Fatalf("the key on r%d lasts %v, want %v", i, left, n.expires.Sub(now))
		}
		if counter, _ := m.nodes[i].Get(key + ":token"); m.model.kind.fenced && n.counter > 0 &&
			counter != strconv.FormatUint(n.counter, 10) {
			m.Fatalf("r%d has counted to %s, want %d", i, counter, n.counter)
		}
	}
	for i, h := range m.all {
		over := m.model.over(h, now)
		if lost(h.lease) != h.lost || (h.lease.Context().Err() != nil) != over {
			m.Fatalf("lease %d: lost %v, context %v; want lost %v, over %v", i, lost(h.lease), h.lease.Context().Err(), h.lost,
				over)
		}
		if !over && !h.lease.Until().Equal(m.model.until(h)) {
			m.Fatalf("lease %d ends %v, want %v", i, h.lease.Until(), m.model.until(h))
		}
	}
}

// votingKinds are the kinds of the model, each without watchdog, with one, and with one and a limit.
func votingKinds() []votingKind {
	o := lock.Options{TTL: modelTTL}
	drift := modelTTL/100 + lock.DefaultDriftConstant
	var all []votingKind
	for _, k := range []votingKind{
		{name: "single", nodes: 1, validity: modelTTL,
			make: func(r []lock.Redis) (lock.Locker, error) { return lock.NewSingle(r[0], o) }},
		{name: "fenced", nodes: 1, validity: modelTTL, fenced: true,
			make: func(r []lock.Redis) (lock.Locker, error) { return lock.NewFenced(r[0], o) }},
		{name: "redlock", nodes: 5, validity: modelTTL - drift,
			make: func(r []lock.Redis) (lock.Locker, error) { return lock.NewRedlock(r, lock.RedlockOptions{Options: o}) }},
		{name: "redlock-fenced", nodes: 5, validity: modelTTL - drift, fenced: true,
			make: func(r []lock.Redis) (lock.Locker, error) {
				return lock.NewRedlockFenced(r, lock.RedlockOptions{Options: o})
			}},
	} {
		all = append(all, k)
		k.name, k.watched = "watchdog over "+k.name, true
		all = append(all, k)
		k.name, k.maxHold = k.name+", limited", 2*modelTTL
		all = append(all, k)
	}
	return all
}

// Random sequences of try, extend, release, crash, time, and nodes that fail and lose data, against the model.
func TestVotingModel(t *testing.T) {
	soak.Checks(t, 30)
	for _, k := range votingKinds() {
		t.Run(k.name, rapid.MakeCheck(func(t *rapid.T) {
			rapid.SyncTest(t, func(t *rapid.T) {
				m := newVotingMachine(t, k)
				t.Repeat(map[string]func(*rapid.T){
					"try":     func(*rapid.T) { m.try() },
					"extend":  func(*rapid.T) { m.extend() },
					"release": func(*rapid.T) { m.release() },
					"crash":   func(*rapid.T) { m.crash() },
					"forget":  func(*rapid.T) { m.forget() },
					"stall":   func(*rapid.T) { m.stall() },
					"recover": func(*rapid.T) { m.recover() },
					"sleep":   func(*rapid.T) { m.sleep() },
					"":        func(*rapid.T) { m.check() },
				})
			})
		}))
	}
}
