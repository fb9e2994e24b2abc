package app

import (
	"fmt"

	"locksim/internal/campaign"
)

// workOf is the work whose results a record has.
func (s *shell) workOf(r *campaign.Record, f mergeFlags) (w work, err error) {
	switch r.Kind {
	case exploreKind:
		w, err = s.readExploration(r)
	case sweepKind:
		w, err = s.readSweep(r)
	case matrixKind:
		w, err = s.readMatrix(r, f)
	case reviewKind:
		w, err = s.readReview(r)
	default:
		return nil, fmt.Errorf("%s has results of a kind %q that this version of locksim does not know", r.Name, r.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return w, nil
}

// resultNames are the files that hold results of single jobs.
var resultNames = []string{exploreKind + ".json", exploreKind + campaign.JournalSuffix, sweepKind + ".json", sweepKind + campaign.JournalSuffix,
	matrixKind + campaign.JournalSuffix, reviewKind + campaign.JournalSuffix}
