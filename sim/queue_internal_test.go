package sim

import (
	"testing"

	"pgregory.net/rapid"
)

// TestQueueProperties shows, for any sequence of add, join and pop, that events
// are popped in the order of their instants, never two at one instant, none
// before the wanted instant; that each function runs once; and that those which
// join share an event.
func TestQueueProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, now, planned, ran := newQueue(), int64(0), 0, 0
		joined := map[joinKey]int64{} // pending keys, and the instants they got
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				want := now + rapid.Int64Range(1, 20).Draw(t, "after")
				if at := q.add(want, func() { ran++ }); at < want {
					t.Fatalf("wanted %d, got %d", want, at)
				}
				planned++
			},
			"join": func(t *rapid.T) {
				key := joinKey{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "group"), rapid.SampledFrom([]string{"", "x"}).Draw(t,
					"label"), now + rapid.Int64Range(1, 20).Draw(t, "after")}
				at := q.join(key.group, key.label, key.want, func() { ran++ })
				if old, ok := joined[key]; at < key.want || ok && old != at {
					t.Fatalf("%v: got %d, the event before it got %d", key, at, old)
				}
				joined[key] = at
				planned++
			},
			"pop": func(t *rapid.T) {
				next, ok := q.next()
				if !ok {
					t.Skip("empty")
				}
				e := q.pop()
				if e.at != next || e.at <= now {
					t.Fatalf("event at %d, next was %d, the last was at %d", e.at, next, now)
				}
				now = e.at
				delete(joined, e.join)
				before := ran
				e.fire()
				for _, f := range e.more {
					f()
				}
				defer q.recycle(e) // the next event reuses it
				if e.join == (joinKey{}) && ran != before+1 {
					t.Fatalf("an event without joins ran %d functions", ran-before)
				}
			},
		})
		for len(q.heap) > 0 {
			e := q.pop()
			ran += 1 + len(e.more)
		}
		if ran != planned || len(q.joined) != 0 || len(q.taken) != 0 {
			t.Fatalf("%d of %d functions ran, %d keys and %d instants are left", ran, planned, len(q.joined), len(q.taken))
		}
	})
}
