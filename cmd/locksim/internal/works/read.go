package works

import (
	"locksim/scenarios/explore"
	"locksim/scenarios/review"
	"locksim/scenarios/sweep"

	"fmt"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/internal/campaign"
	"locksim/scenarios/play"
)

// Read is the work whose results a record has.
func Read(c *console.Console, extra []play.Lock, r *campaign.Record, noRuns bool) (w publish.Work, err error) {
	switch r.Kind {
	case explore.Kind:
		w, err = readExploration(c, r)
	case sweep.Kind:
		w, err = readSweep(c, r)
	case MatrixKind:
		w, err = readMatrix(c, extra, r, noRuns)
	case review.Kind:
		w, err = readReview(c, extra, r)
	default:
		return nil, fmt.Errorf("%s has results of a kind %q that this version of locksim does not know", r.Name, r.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return w, nil
}

// ResultNames are the files that hold results of single jobs.
var ResultNames = []string{explore.Kind + ".json", explore.Kind + campaign.JournalSuffix, sweep.Kind + ".json", sweep.Kind + campaign.JournalSuffix,
	MatrixKind + campaign.JournalSuffix, review.Kind + campaign.JournalSuffix}
