package sim

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// The outbox is where goroutines leave their requests to the world: to send, to
// dial, to sleep, to pass a point. The order in which they leave them is the
// scheduler's, so it counts for nothing: when everything is blocked, the world
// sorts the outbox by what the requests are, and only then acts.
type outbox struct {
	mu      sync.Mutex
	entries []entry
	asleep  bool        // the world waits for the next event, and is to be woken by a request
	timer   *time.Timer // what it waits on
}

// entry is one request. commit runs on the world's goroutine.
type entry struct {
	where  string // a link's direction ("c0>r0") or an actor ("c0")
	rank   rank
	conn   *conn  // for bytes on a connection
	seq    uint64 // order within one connection and direction, or a duration
	label  string // a point's or a timer's name
	commit func()

	// Bytes on a connection have these in place of commit.
	dir      Direction
	data     []byte // nil is the end of the stream
	toxified bool   // it is the output of the toxics
}

func (e *entry) act() {
	switch {
	case e.commit != nil:
		e.commit()
	case e.toxified:
		e.conn.planArrival(e.dir, e.data)
	default:
		e.conn.commit(e.dir, e.data)
	}
}

// rank orders the kinds of request with one where.
type rank int

const (
	rankDial rank = iota
	rankSend
	rankTimer
	rankPoint
	rankNode
)

func newOutbox() *outbox {
	o := &outbox{timer: time.NewTimer(time.Hour)}
	o.timer.Stop()
	return o
}

// post leaves a request. Any goroutine of the bubble may call it.
func (o *outbox) post(e entry) {
	o.mu.Lock()
	o.entries = append(o.entries, e)
	o.wakeUp()
	o.mu.Unlock()
}

// nudge wakes the world, with or without a request.
func (o *outbox) nudge() {
	o.mu.Lock()
	o.wakeUp()
	o.mu.Unlock()
}

// wakeUp wakes the world if it sleeps. The mutex is held.
func (o *outbox) wakeUp() {
	if o.asleep {
		o.asleep = false
		o.timer.Reset(0)
	}
}

// sleep waits for d, or until a request is posted.
func (o *outbox) sleep(d time.Duration) {
	o.mu.Lock()
	if len(o.entries) > 0 {
		o.mu.Unlock()
		return
	}
	o.asleep = true
	o.timer.Reset(d)
	o.mu.Unlock()
	<-o.timer.C
	o.mu.Lock()
	o.asleep = false
	o.mu.Unlock()
}

// take empties the outbox and returns its requests in canonical order.
func (o *outbox) take(into []entry) []entry {
	o.mu.Lock()
	into = append(into[:0], o.entries...)
	clear(o.entries)
	o.entries = o.entries[:0]
	o.mu.Unlock()
	if len(into) > 1 {
		slices.SortFunc(into, compareEntries)
	}
	return into
}

// compareEntries orders requests by what they are. A stream keeps its order;
// the bytes of twins (see class) are ordered by content. Equal requests are
// interchangeable.
func compareEntries(a, b entry) int {
	return cmp.Or(
		strings.Compare(a.where, b.where),
		cmp.Compare(a.rank, b.rank),
		cmp.Compare(classOrder(a.conn), classOrder(b.conn)),
		cmp.Compare(a.seq, b.seq),
		strings.Compare(a.label, b.label),
		compareData(a.data, b.data),
	)
}

// compareData puts the end of a stream, which is nil, before its bytes.
func compareData(a, b []byte) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return bytes.Compare(a, b)
}

func classOrder(c *conn) int64 {
	if c == nil {
		return 0
	}
	return c.class.Load().order
}

// joinWrites joins what one end of a connection has written in one instant, for
// a [Joiner]: there the scheduler decides how the bytes are split into writes.
func joinWrites(batch []entry) []entry {
	out := batch[:0]
	for _, e := range batch {
		if n := len(out); n > 0 && e.follows(&out[n-1]) {
			last := &out[n-1]
			last.data = append(last.data[:len(last.data):len(last.data)], e.data...)
			last.seq = e.seq
			continue
		}
		out = append(out, e)
	}
	return out
}

// follows reports whether what e sends is to be joined to the entry before it.
func (e *entry) follows(before *entry) bool {
	return e.conn != nil && e.conn.joins && e.conn == before.conn && e.dir == before.dir && !e.toxified &&
		!before.toxified &&
		e.commit == nil && before.commit == nil && e.data != nil && before.data != nil && e.seq == before.seq+1
}
