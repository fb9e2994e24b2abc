package main

import (
	"fmt"

	"locksim/internal/book"
	"locksim/scenarios/outcome/tally"
)

// quotable is the sentence above the page. Its figures are those of the results, and a test holds its claims against
// them.
func quotable(b *book.Book[key, result]) string {
	share := func(scenario, lock string, f figure) string {
		r, _ := b.Latest(key{scenario, lock})
		return tally.Percent(float64(f.of(r)) / float64(max(r.Runs, 1)))
	}
	return fmt.Sprintf("With all five nodes in reach, a Redlock had two holders in %s of the runs in which one node lost "+
		"its keys, and in %s of those in which the clock of one jumped; a single node had them in %s and %s. A pause longer "+
		"than the lease cost an update as often with five nodes as with one, in %s and %s: against pauses only a fence at "+
		"the data helps.",
		share("restart-1-100ms", "redlock", twoClaims), share("clock-1-7s", "redlock", twoClaims),
		share("restart-single-100ms", "single", twoClaims), share("clock-single-7s", "single", twoClaims),
		share("pause-any-15s", "redlock", lostUpdates), share("pause-any-15s", "single", lostUpdates))
}
