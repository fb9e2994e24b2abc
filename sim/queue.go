package sim

import "container/heap"

// event is a planned event, at an instant of its own.
type event struct {
	at   int64 // nanoseconds since the start of the run
	fire func()
	more []func() // functions that have joined it
	join joinKey
	// Bytes that arrive over a connection have these in place of fire.
	conn *conn
	dir  Direction
	data []byte // nil is the end of the stream
}

// happen delivers the event, and reports whether that has certainly unblocked no goroutine.
func (e *event) happen() (still bool) {
	if e.conn != nil {
		return e.conn.arrive(e.dir, e.data)
	}
	e.fire()
	for _, f := range e.more {
		f()
	}
	return false
}

// joinKey identifies events that must be one: dials of one process to one node
// in one instant, timers of one process that end in one instant, equal points
// that it passes in one instant. Which of the goroutines behind them was first
// is a race; waking them together, and sorting what they send, hides the race.
type joinKey struct {
	group, label string
	want         int64
}

// queue holds the events to come, earliest first, never two at one instant.
type queue struct {
	heap   eventHeap
	taken  map[int64]struct{}
	joined map[joinKey]*event
	free   []*event // delivered, for reuse
}

func newQueue() *queue {
	return &queue{taken: map[int64]struct{}{}, joined: map[joinKey]*event{}}
}

// add plans f at the instant want, or at the first free one after it, and
// returns the instant.
func (q *queue) add(want int64, f func()) int64 {
	e := q.fresh()
	e.at, e.fire = want, f
	return q.push(e)
}

// arrival plans the arrival of bytes, or of the end of a stream, at an instant
// as add does.
func (q *queue) arrival(want int64, c *conn, dir Direction, data []byte) int64 {
	e := q.fresh()
	e.at, e.conn, e.dir, e.data = want, c, dir, data
	return q.push(e)
}

// join is add, but functions with the same group, label and instant share one
// event.
func (q *queue) join(group, label string, want int64, f func()) int64 {
	key := joinKey{group, label, want}
	if e := q.joined[key]; e != nil {
		e.more = append(e.more, f)
		return e.at
	}
	e := q.fresh()
	e.at, e.fire, e.join = want, f, key
	q.joined[key] = e
	return q.push(e)
}

func (q *queue) push(e *event) int64 {
	for {
		if _, ok := q.taken[e.at]; !ok {
			break
		}
		e.at++
	}
	q.taken[e.at] = struct{}{}
	heap.Push(&q.heap, e)
	return e.at
}

// next is the instant of the earliest event.
func (q *queue) next() (at int64, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// pop removes the earliest event. The caller recycles it after its delivery.
func (q *queue) pop() *event {
	e := heap.Pop(&q.heap).(*event)
	delete(q.taken, e.at)
	if e.join != (joinKey{}) {
		delete(q.joined, e.join)
	}
	return e
}

func (q *queue) fresh() *event {
	if n := len(q.free); n > 0 {
		e := q.free[n-1]
		q.free = q.free[:n-1]
		return e
	}
	return new(event)
}

func (q *queue) recycle(e *event) {
	*e = event{}
	q.free = append(q.free, e)
}

type eventHeap []*event

func (h eventHeap) Len() int           { return len(h) }
func (h eventHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h eventHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)        { *h = append(*h, x.(*event)) }

func (h *eventHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return e
}
