package evidence

import (
	"sort"
	"time"

	"locksim/checker"
)

// Connections is the greatest number of connections to the servers of the lock that one client had open when the
// workload was over; 0 if that is not known.
func (rec *Record) Connections() int {
	of, most := map[string]int{}, 0
	for _, s := range rec.Left {
		for client, n := range s.Connections {
			of[client] += n
			most = max(most, of[client])
		}
	}
	return most
}

// askedLong is the shortest wait for a lock of which it is said how often the client sent something.
const askedLong = 50 * time.Millisecond

// AskedPerSecond is how often a client that waited for a lock sent something to its servers, by the history of the run:
// the most, per second, of the waits of 50 ms or more; 0 if there was none.
func AskedPerSecond(h *checker.History) (most int) {
	t := h.Timing
	if t == nil {
		return 0
	}
	wait := func(client string, from, to checker.Pos) {
		if from == 0 || to == 0 || t.At[to-1]-t.At[from-1] < askedLong {
			return
		}
		sends := t.Sends[client]
		n := sort.Search(len(sends), func(i int) bool { return sends[i] > t.At[to-1] }) -
			sort.Search(len(sends), func(i int) bool { return sends[i] >= t.At[from-1] })
		most = max(most, int(time.Duration(n)*time.Second/(t.At[to-1]-t.At[from-1])))
	}
	for _, g := range h.Grants {
		wait(g.Client, g.Invoked, g.Granted)
	}
	for _, a := range h.Attempts {
		wait(a.Client, a.Invoked, a.Returned)
	}
	return most
}
