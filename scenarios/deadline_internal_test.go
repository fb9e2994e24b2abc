package scenarios

import (
	"testing"
	"time"
)

// Runs fit before the deadline if they leave some time for what comes after them, at the pace of the slowest so far.
func TestTimeForRuns(t *testing.T) {
	k := &clock{end: time.Now().Add(margin + 10*time.Minute), cost: time.Minute}
	if !k.timeFor(9) || k.timeFor(11) {
		t.Error("nine runs of a minute fit into ten minutes, and eleven do not")
	}
	if k.end = (time.Time{}); !k.timeFor(1_000_000) {
		t.Error("a test without a deadline has time")
	}
	k.since = time.Now().Add(-time.Hour)
	if k.ran(); k.cost < time.Hour {
		t.Errorf("a run of an hour costs %v", k.cost)
	}
	if k.ran(); k.cost > 2*time.Hour {
		t.Errorf("the next run has cost %v", k.cost)
	}
}
