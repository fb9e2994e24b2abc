package lock_test

import (
	"errors"
	"fmt"
	"io"
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

// model is a simple model of a fenced lock with leases, reentrant if the kind is: the expected state of the node.
type model struct {
	reentrant, fenced bool

	token   uint64 // the last one minted
	owner   string
	entries map[*hold]bool // nil: the lock is free
	expires time.Time
}

// hold is an entry into the lock, and its lease.
type hold struct {
	lease    lock.Lease
	owner    string
	ttl      time.Duration
	until    time.Time
	lost     bool
	released bool  // Release has returned result
	result   error // nil or ErrNotHeld
}

// now applies the passing of time.
func (m *model) now() time.Time {
	now := time.Now()
	if m.entries != nil && !now.Before(m.expires) {
		m.entries = nil
	}
	return now
}

// enter is a request for the lock. It reports false while another owner holds it.
func (m *model) enter(h *hold) (token uint64, granted bool) {
	now := m.now()
	switch {
	case m.entries == nil:
		m.owner, m.entries, m.expires = h.owner, map[*hold]bool{}, now
		if m.fenced {
			m.token++
		}
	case !m.reentrant || m.owner != h.owner:
		return 0, false
	}
	m.entries[h] = true
	m.renew(h)
	h.until = now.Add(h.ttl)
	return m.token, true
}

// renew never shortens the validity of another entry.
func (m *model) renew(h *hold) {
	if end := time.Now().Add(h.ttl); end.After(m.expires) {
		m.expires = end
	}
}

// leave is a release. It reports false if there is nothing to release.
func (m *model) leave(h *hold) bool {
	m.now()
	if !m.entries[h] {
		return false
	}
	if delete(m.entries, h); len(m.entries) == 0 {
		m.entries = nil
	}
	return true
}

// machine drives locks of one kind, on clients with different TTLs, together with the model.
type machine struct {
	*rapid.T
	node    *miniredis.Miniredis
	clients []driven
	model   *model
	holds   []*hold
}

// driven is a lock and its network.
type driven struct {
	lock locker
	line *wire
	ttl  time.Duration
}

var ttls = []time.Duration{time.Second, 1500 * time.Millisecond, 4 * time.Second}

func newMachine(t *rapid.T, k kind) *machine {
	node := miniredis.NewMiniRedis()
	node.ClockTTL(true)
	m := &machine{T: t, node: node}
	for _, ttl := range ttls {
		line := &wire{node: node}
		c := redis.NewClient(quiet(line))
		t.Cleanup(func() { _ = c.Close() })
		l, err := k.make(c, lock.Options{TTL: ttl})
		if err != nil {
			t.Fatal(err)
		}
		m.clients = append(m.clients, driven{l, line, ttl})
	}
	t.Cleanup(func() {
		node.Close()
		time.Sleep(10 * time.Second) // the timers of the leases, and go-redis after failures
	})
	_, reentrant := m.clients[0].lock.(lock.Owned)
	_, fenced := m.clients[0].lock.(interface{ TokenKey(string) string })
	m.model = &model{reentrant: reentrant, fenced: fenced}
	m.warmUp()
	return m
}

// warmUp loads the scripts, so that each request is one message from here on.
func (m *machine) warmUp() {
	h := m.enter(m.clients[0], "a")
	m.extend(h)
	m.release(h)
	m.holds = nil
}

// lose loses the answer to a client's next request for the lock.
func (m *machine) lose(d driven, k kind) {
	d.line.arm(fault{command: askAgain(k), loseReply: true, err: io.EOF})
}

func (m *machine) client() driven { return rapid.SampledFrom(m.clients).Draw(m.T, "client") }

func (m *machine) someOwner() string {
	return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(m.T, "owner")
}

// some draws a present or former lease.
func (m *machine) some() *hold {
	if len(m.holds) == 0 {
		m.Skip("no lease")
	}
	return rapid.SampledFrom(m.holds).Draw(m.T, "lease")
}

func (m *machine) try(d driven, owner string) (lock.Lease, error) {
	l := lock.Locker(d.lock)
	if reentrant, ok := l.(lock.Owned); ok {
		l = reentrant.As(owner)
	}
	return l.(lock.Trier).TryAcquire(m.Context(), resource)
}

// enter tries once to acquire the lock, and returns what was granted.
func (m *machine) enter(d driven, owner string) *hold {
	h := &hold{owner: owner, ttl: d.ttl}
	token, granted := m.model.enter(h)
	lease, err := m.try(d, owner)
	switch {
	case !granted && !errors.Is(err, lock.ErrTaken):
		m.Fatalf("%s holds it, and %s got %v, %v", m.model.owner, owner, lease, err)
	case !granted:
		return nil
	case err != nil:
		m.Fatalf("%s is refused: %v", owner, err)
	case lease.Token() != token:
		m.Fatalf("%s has token %d, want %d", owner, lease.Token(), token)
	}
	h.lease = lease
	m.holds = append(m.holds, h)
	return h
}

// enterUnanswered loses the answer to a request for the lock, which is then undone.
func (m *machine) enterUnanswered(d driven, owner string, k kind) {
	m.lose(d, k)
	h := &hold{owner: owner, ttl: d.ttl}
	m.model.enter(h)
	m.model.leave(h)
	if lease, err := m.try(d, owner); !errors.Is(err, lock.ErrOutcomeUnknown) {
		m.Fatalf("%s got %v, %v without an answer", owner, lease, err)
	}
}

func (m *machine) extend(h *hold) {
	err := h.lease.(lock.Extender).Extend(m.Context())
	now := m.model.now()
	over := h.released || h.lost || !now.Before(h.until)
	switch held := m.model.entries[h]; {
	case !over && held:
		m.model.renew(h)
		h.until = now.Add(h.ttl)
		if err != nil {
			m.Fatalf("%s may not extend: %v", h.owner, err)
		}
	case !errors.Is(err, lock.ErrNotHeld):
		m.Fatalf("%s extends what it does not hold: %v", h.owner, err)
	default:
		h.lost = h.lost || !h.released
	}
}

func (m *machine) release(h *hold) {
	if !h.released && !m.model.leave(h) {
		h.result = lock.ErrNotHeld
	}
	m.noteEnd(h)
	if err := h.lease.Release(m.Context()); !errors.Is(err, h.result) {
		m.Fatalf("release by %s: %v, want %v", h.owner, err, h.result)
	}
}

// releaseUnanswered loses the answer to a release. A later one finds nothing.
func (m *machine) releaseUnanswered(h *hold, d driven) {
	if h.released {
		m.Skip("it is released already")
	}
	m.model.leave(h)
	d.line.arm(fault{command: "evalsha", loseReply: true, err: io.EOF})
	m.noteEnd(h)
	h.result = lock.ErrNotHeld
	if err := h.lease.Release(m.Context()); !errors.Is(err, lock.ErrOutcomeUnknown) {
		m.Fatalf("release by %s without an answer: %v", h.owner, err)
	}
}

// noteEnd records that a lease ends by release, unless it was lost before.
func (m *machine) noteEnd(h *hold) {
	h.lost = h.lost || !h.released && !time.Now().Before(h.until)
	h.released = true
}

// crash drops the leases of an owner.
func (m *machine) crash(owner string) {
	var left []*hold
	for _, h := range m.holds {
		if h.owner != owner {
			left = append(left, h)
		}
	}
	m.holds = left
}

// check compares the node, and the state of each lease, with the model.
func (m *machine) check() {
	synctest.Wait()
	now := m.model.now()
	key := m.clients[0].lock.Key(resource)
	if there := m.node.Exists(key); there != (m.model.entries != nil) {
		m.Fatalf("the key is there: %v; want %v", there, !there)
	}
	if m.model.entries != nil {
		m.checkKey(key, m.model.expires.Sub(now))
	}
	if m.model.fenced {
		if last, _ := m.node.Get(key + ":token"); last != strconv.FormatUint(m.model.token, 10) && m.model.token > 0 {
			m.Fatalf("the counter holds %q, want %d", last, m.model.token)
		}
	}
	for _, h := range m.holds {
		m.checkLease(h, now)
	}
}

func (m *machine) checkKey(key string, left time.Duration) {
	if ttl := m.node.TTL(key); ttl != left {
		m.Fatalf("the key lasts %v, want %v", ttl, left)
	}
	if !m.model.reentrant {
		return
	}
	want := fmt.Sprint(len(m.model.entries))
	if got := m.node.HGet(key, "owner:"+m.model.owner); got != want {
		m.Fatalf("%q entries of %s, want %s", got, m.model.owner, want)
	}
	fields := len(m.model.entries) + 1
	if m.model.fenced {
		fields++
	}
	if names, _ := m.node.HKeys(key); len(names) != fields {
		m.Fatalf("fields %q, want %d", names, fields)
	}
}

func (m *machine) checkLease(h *hold, now time.Time) {
	if !h.released && !now.Before(h.until) {
		h.lost = true
	}
	if lost(h.lease) != h.lost {
		m.Fatalf("lost of %s is %v, want %v", h.owner, !h.lost, h.lost)
	}
	if over := h.lease.Context().Err() != nil; over != (h.lost || h.released) {
		m.Fatalf("the context of %s has ended: %v; lost %v, released %v", h.owner, over, h.lost, h.released)
	}
	if !h.lost && !h.released && !h.lease.Until().Equal(h.until) {
		m.Fatalf("%s is told %v until %v is over", h.owner, h.lease.Until(), h.until)
	}
	if !h.lost && !h.released && m.model.entries[h] && m.model.expires.Before(h.until) {
		m.Fatalf("%s is told more than the node keeps", h.owner)
	}
}

// clientOf is the client of a lease.
func (m *machine) clientOf(h *hold) driven {
	for _, d := range m.clients {
		if d.ttl == h.ttl {
			return d
		}
	}
	panic("a lease without a client")
}

// step draws a duration, in which leases may end, also exactly at its end.
func (m *machine) step() time.Duration {
	return rapid.OneOf(
		rapid.SampledFrom([]time.Duration{500 * time.Millisecond, time.Second, 1500 * time.Millisecond}),
		rapid.Map(rapid.IntRange(1, 3000), func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }),
	).Draw(m.T, "step")
}

// TestModel drives each kind by random requests of several owners, some of them unanswered, crashes and steps of time,
// together with a simple model.
func TestModel(t *testing.T) {
	soak.Checks(t, 30)
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				rapid.SyncTest(t, func(t *rapid.T) {
					m := newMachine(t, k)
					t.Repeat(map[string]func(*rapid.T){
						"acquire":            func(*rapid.T) { m.enter(m.client(), m.someOwner()) },
						"acquire unanswered": func(*rapid.T) { m.enterUnanswered(m.client(), m.someOwner(), k) },
						"extend":             func(*rapid.T) { m.extend(m.some()) },
						"release":            func(*rapid.T) { m.release(m.some()) },
						"release unanswered": func(*rapid.T) { h := m.some(); m.releaseUnanswered(h, m.clientOf(h)) },
						"crash":              func(*rapid.T) { m.crash(m.someOwner()) },
						"step":               func(*rapid.T) { time.Sleep(m.step()) },
						"":                   func(*rapid.T) { m.check() },
					})
				})
			})
		})
	}
}
