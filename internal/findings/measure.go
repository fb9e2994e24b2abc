package main

import (
	"fmt"
	"strings"
	"time"

	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// firstSeeds are the first seeds of the searches.
var firstSeeds = []uint64{1, 1_000_001, 2_000_001}

// row is the measurement of one lock.
type row struct {
	lock, faults, ttl string
	runs              sample
}

// sample is the number of runs of each search: to any violation, and to the
// first that shows the mistake.
type sample struct{ any, mistake counts }

// measure searches a lock.
func measure(name string, most int) (row, error) {
	l, space, err := subject(name)
	if err != nil {
		return row{}, err
	}
	r := row{lock: name, faults: classes(space.Faults), ttl: space.TTL.String()}
	r.runs, err = searches(l, space, most)
	return r, err
}

// subject returns a lock and its search space: that of a specimen, and pauses
// for any other lock. The lock has no promise, so that every violation counts.
func subject(name string) (play.Lock, search.Space, error) {
	l, err := play.Kind(name)
	if err != nil {
		return l, search.Space{}, err
	}
	l.Promise = lock.Promise{}
	space := search.Space{Faults: []lock.Fault{lock.FaultPause}, TTL: file.Range{Min: 500 * time.Millisecond, Max: 10 * time.Second}}
	if isSpecimen(name) {
		if space, err = search.SpecimenSpace(name); err != nil {
			return l, space, err
		}
	}
	space, err = search.Discover(l, space)
	return l, space, err
}

func isSpecimen(name string) bool { return strings.HasPrefix(name, "broken/") }

// searches makes a search from each of the first seeds.
func searches(l play.Lock, space search.Space, most int) (sample, error) {
	var s sample
	for _, seed := range firstSeeds {
		anyRuns, ownRuns, err := searchFrom(l, space, seed, most)
		if err != nil {
			return s, fmt.Errorf("from seed %d: %w", seed, err)
		}
		s.any, s.mistake = append(s.any, anyRuns), append(s.mistake, ownRuns)
	}
	return s, nil
}

// searchFrom counts the runs to the first violation, and to the first that
// shows the mistake.
func searchFrom(l play.Lock, space search.Space, first uint64, most int) (anyRuns, ownRuns int, err error) {
	seen, err := search.Find(l, space, first, most, func(s *search.Sighting) (bool, error) {
		if anyRuns == 0 {
			anyRuns = s.Runs
		}
		return showsMistake(l.Name, s)
	})
	if seen != nil {
		ownRuns = seen.Runs
	}
	return anyRuns, ownRuns, err
}
