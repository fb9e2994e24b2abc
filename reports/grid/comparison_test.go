package grid_test

import (
	"strings"
	"testing"

	"locksim/reports/grid"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
)

// Results with servers that were compared with no real ones are marked, and a wait is beside the round trips.
func TestComparisonMarks(t *testing.T) {
	l := comparisons.Lock{Name: "theirs", Servers: []comparisons.Servers{{Kind: "consul", Count: 3, Uncompared: true}}}
	l.Trips.Acquire = comparisons.Trip{RoundTrips: 2, Messages: 2, WaitsSeconds: 11.44}
	own := comparisons.Lock{Name: "ours", Servers: []comparisons.Servers{{Kind: "redis", Count: 1}}}
	c := comparisons.New(outcome.Seeds{First: 1, Last: 1}, []comparisons.Lock{l, own})
	if got := grid.LockHead(l) + ", " + grid.LockHead(own); got != "theirs °, ours" {
		t.Errorf("the heads are %q", got)
	}
	row := ""
	for _, need := range grid.Needs()[:3] {
		row += need.Text(l) + "|"
	}
	if want := "3 consul °|no|2, waits 11.4 s|"; row != want {
		t.Errorf("the row is %q, want %q", row, want)
	}
	for _, want := range []string{"waits does so", "° Every cell"} {
		if !strings.Contains(grid.TripsNote(c), want) {
			t.Errorf("the note lacks %q: %s", want, grid.TripsNote(c))
		}
		if alone := comparisons.New(c.Seeds, []comparisons.Lock{own}); strings.Contains(grid.TripsNote(alone), want) {
			t.Errorf("without such a lock the note has %q", want)
		}
	}
	l.Survives = []comparisons.Survival{{Others: []comparisons.Seen{{Scenario: "mine/x.yaml", Replay: "go run ./cmd run " +
		"mine/x.yaml --lock theirs"}}}}
	if got := grid.Program(comparisons.New(c.Seeds, []comparisons.Lock{own, l})); got != "go run ./cmd" {
		t.Errorf("the program is %q", got)
	}
}
