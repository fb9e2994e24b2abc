package evidence_test

import (
	"testing"
	"time"

	"locksim/checker"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// A place is taken from a client that still waits by a request of another one: not by its own, nor by the server, nor
// from one that was granted the lock or gave up, nor out of a key that is no queue.
func TestDisplaced(t *testing.T) {
	members := func(step int, key, asked string, names ...string) trace.KeyChange {
		return trace.KeyChange{Step: step, Server: "r0", Key: key, Members: names, Asked: asked, By: asked,
			Change: trace.KeySet}
	}
	waiting := checker.History{Grants: []checker.Grant{{Client: "c1", Invoked: 5, Granted: 50}},
		Attempts: []checker.Attempt{{Client: "c2", Invoked: 5, Returned: 15}}}
	for name, tc := range map[string]struct {
		queues map[string]string
		keys   map[string][]string
		change trace.KeyChange
		want   int
	}{
		"by another":        {nil, nil, members(10, "queue", "c0", "two"), 1},
		"by itself":         {nil, nil, members(10, "queue", "c1", "two"), 0},
		"by the server":     {nil, nil, members(10, "queue", "", "two"), 0},
		"after its grant":   {nil, nil, members(60, "queue", "c0", "two"), 0},
		"both":              {nil, nil, members(10, "queue", "c0"), 2},
		"one gave up":       {nil, nil, members(20, "queue", "c0"), 1},
		"in the queue":      {map[string]string{"order": "queue"}, nil, members(10, "queue", "c0", "two"), 1},
		"in another key":    {map[string]string{"order": "waiters"}, nil, members(10, "queue", "c0", "two"), 0},
		"in the lock's key": {nil, map[string][]string{"order": {"queue"}}, members(10, "queue", "c0", "two"), 0},
		"after the end":     {nil, nil, members(90, "queue", "c0"), 0},
	} {
		rec := &evidence.Record{Over: 80, Queues: tc.queues, Keys: tc.keys, Changes: []trace.KeyChange{
			members(6, "queue", "c1", "one"), members(7, "queue", "c2", "one", "two"), tc.change}}
		if got := rec.Displaced(waiting); len(got) != tc.want || tc.want > 0 && got[0].Of != "c1" {
			t.Errorf("%s: %+v, want %d", name, got, tc.want)
		}
	}
	rec := &evidence.Record{Over: 80, Changes: []trace.KeyChange{
		members(4, "queue", "c1", "one"), members(10, "queue", "c0")}}
	if got := rec.Displaced(waiting); len(got) > 0 {
		t.Errorf("a place of an earlier wait: %+v", got)
	}
	rec.Changes[0].Step = 6
	for to, want := range map[time.Duration]int{4: 1, 8: 0} { // c1 is away from 3 on
		waiting.Timing = &checker.Timing{Away: map[string][]checker.Absence{"c1": {{Span: checker.Span{From: 3, To: to}}}}}
		for at := range 90 {
			waiting.Timing.At = append(waiting.Timing.At, time.Duration(at+1))
		}
		if got := rec.Displaced(waiting); len(got) != want {
			t.Errorf("away until %d: %+v, want %d", to, got, want)
		}
	}
}
