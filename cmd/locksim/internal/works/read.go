package works

import (
	"fmt"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/internal/campaign"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/subject"
)

// Read is the work whose results a record has.
func Read(c *console.Console, extra []subject.Lock, r *campaign.Record, noRuns bool) (w publish.Work, err error) {
	switch r.Kind {
	case explorations.Kind:
		w, err = readExploration(c, r)
	case sweeps.Kind:
		w, err = readSweep(c, r)
	case MatrixKind:
		w, err = readMatrix(c, extra, r, noRuns)
	case reviews.Kind:
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
var ResultNames = []string{explorations.Kind + ".json", explorations.Kind + campaign.JournalSuffix, sweeps.Kind +
	".json", sweeps.Kind + campaign.JournalSuffix,
	MatrixKind + campaign.JournalSuffix, reviews.Kind + campaign.JournalSuffix}
