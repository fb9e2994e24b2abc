package main

import (
	"fmt"
	"strings"
	"time"

	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// firstSeeds are the seeds with which the searches begin.
var firstSeeds = []uint64{1, 1_000_001, 2_000_001}

// row is the measurement of one lock.
type row struct {
	Lock   string `json:"lock"`
	Faults string `json:"faults"`
	TTL    string `json:"ttl"`
	Most   int    `json:"most"` // after which a search gives up
	Runs   sample `json:"runs"`
	Commit string `json:"commit"`
}

// key is what a row is of.
type key struct {
	lock string
	most int
}

func (r row) key() key       { return key{r.Lock, r.Most} }
func (r row) commit() string { return r.Commit }

// sample has the runs that each search took: to any violation, and to the first that
// shows the mistake.
type sample struct {
	Any     counts `json:"any"`
	Mistake counts `json:"mistake"`
}

// measure searches for violations of a lock.
func measure(name string, most int) (row, error) {
	l, space, err := searched(name)
	if err != nil {
		return row{}, err
	}
	r := row{Lock: name, Faults: classes(space.Faults), TTL: space.TTL.String(), Most: most}
	r.Runs, err = searches(l, space, most)
	return r, err
}

// searched is a lock and the space of its search: what a specimen declares, and pauses
// for any other lock. The lock is judged on everything.
func searched(name string) (subject.Lock, spaces.Space, error) {
	l, err := redislocks.Kind(name)
	if err != nil {
		return l, spaces.Space{}, err
	}
	l = l.DutiesAlone()
	space := spaces.Space{Faults: []lock.Fault{lock.FaultPause}, TTL: file.Range{Min: 500 * time.Millisecond,
		Max: 10 * time.Second}}
	if isSpecimen(name) {
		if space, err = search.SpecimenSpace(name); err != nil {
			return l, space, err
		}
	}
	space, err = search.Discover(l, space)
	return l, space, err
}

func isSpecimen(name string) bool { return strings.HasPrefix(name, "broken/") }

// searches runs a search from each of the first seeds.
func searches(l subject.Lock, space spaces.Space, most int) (sample, error) {
	var s sample
	for _, seed := range firstSeeds {
		anyRuns, ownRuns, err := searchFrom(l, space, seed, most)
		if err != nil {
			return s, fmt.Errorf("from seed %d: %w", seed, err)
		}
		s.Any, s.Mistake = append(s.Any, anyRuns), append(s.Mistake, ownRuns)
	}
	return s, nil
}

// searchFrom counts the runs to the first violation, and goes on to the first that
// shows the mistake.
func searchFrom(l subject.Lock, space spaces.Space, first uint64, most int) (anyRuns, ownRuns int, err error) {
	seeds, err := outcome.NewSeeds(first, most)
	if err != nil {
		return 0, 0, err
	}
	runs := 0
	for t := range search.Trials(l, search.Drawn(l, space, seeds)) {
		runs++
		if t.Err != nil {
			return 0, 0, t.Err
		}
		if t.Difference != nil {
			return 0, 0, t.Difference
		}
		if len(t.Violations) == 0 {
			continue
		}
		if anyRuns == 0 {
			anyRuns = runs
		}
		own, err := showsMistake(l.Name, t)
		if err != nil {
			return 0, 0, err
		}
		if own {
			return anyRuns, runs, nil
		}
	}
	return anyRuns, 0, nil
}
