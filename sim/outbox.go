package sim

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
)

// The outbox is where goroutines leave what they want of the world: to send,
// to dial, to sleep, to pass a point. The order in which they leave it is the
// scheduler's, so it counts for nothing: when everything is blocked, the
// world sorts the outbox by what the requests are, and only then acts.
type outbox struct {
	mu      sync.Mutex
	entries []entry
	wake    chan struct{}
}

// entry is one request. commit runs on the world's goroutine.
type entry struct {
	where  string // a link's direction ("c0>r0") or an actor ("c0")
	rank   rank
	conn   *conn  // for what goes over a connection
	label  string // content, or a point's name
	seq    uint64 // order within one connection and direction
	commit func()
}

// rank orders the kinds of request of one place.
type rank int

const (
	rankDial rank = iota
	rankSend
	rankTimer
	rankPoint
	rankNode
)

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// post leaves a request. Any goroutine of the bubble may call it.
func (o *outbox) post(e entry) {
	o.mu.Lock()
	o.entries = append(o.entries, e)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take empties the outbox and returns its requests in canonical order.
func (o *outbox) take(into []entry) []entry {
	o.mu.Lock()
	into = append(into[:0], o.entries...)
	clear(o.entries)
	o.entries = o.entries[:0]
	o.mu.Unlock()
	select {
	case <-o.wake:
	default:
	}
	if len(into) > 1 {
		slices.SortStableFunc(into, compareEntries)
	}
	return into
}

func compareEntries(a, b entry) int {
	if c := strings.Compare(a.where, b.where); c != 0 {
		return c
	}
	if c := cmp.Compare(a.rank, b.rank); c != 0 {
		return c
	}
	if c := cmp.Compare(connOrder(a.conn), connOrder(b.conn)); c != 0 {
		return c
	}
	if a.conn != nil && a.conn == b.conn {
		return cmp.Compare(a.seq, b.seq) // a stream keeps its order
	}
	if c := strings.Compare(a.label, b.label); c != 0 {
		return c
	}
	return cmp.Compare(a.seq, b.seq)
}

// connOrder sorts connections by number. One that has sent nothing has none
// yet: twins dialled in one instant get their numbers in the order of what
// they first send.
func connOrder(c *conn) int64 {
	switch {
	case c == nil:
		return -1
	case c.id.Load() == 0:
		return math.MaxInt64
	}
	return c.id.Load()
}
