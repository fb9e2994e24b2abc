package scenarios

import (
	"slices"
	"strings"
	"testing"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/review"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/sweep"
)

// Each search takes each name of a fault, and all refuse an unknown name in the same
// words.
func TestEverySearchTakesEveryName(t *testing.T) {
	l, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	l.Promise = lock.Promise{}
	inner := l.New
	l.New = func(e Env) (lock.Locker, error) {
		_ = e.WallClock().Now() // otherwise a sweep places no jumps of clients' clocks
		return inner(e)
	}
	sc, err := file.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	sc.World.Replicas = 1
	searches := map[string]func(names ...lock.Fault) error{
		"explore": func(names ...lock.Fault) error {
			_, err := explore.NewPlan(l, explore.Options{Runs: 1, FirstSeed: 1, Faults: names,
				Judge: explorations.JudgeEverything, Collect: explorations.CollectAll})
			return err
		},
		"sweep": func(names ...lock.Fault) error {
			_, err := sweep.NewPlan(sc, l, sweep.Options{Seed: 1, Faults: names, Judge: explorations.JudgeEverything})
			return err
		},
		"review": func(names ...lock.Fault) error {
			w, err := review.NewWork(l, review.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Runs: 1, Faults: names})
			if err == nil && !slices.Equal(w.Faults, texts(names)) {
				t.Errorf("a review of %s is one of %v", names, w.Faults)
			}
			return err
		},
		"Check": func(names ...lock.Fault) error {
			space, err := Options{Faults: names}.space()
			if err == nil {
				_, err = search.Discover(l, space)
			}
			return err
		},
	}
	if err := searches["review"](names()...); err != nil { // each plan of a review reads the library
		t.Error(err)
	}
	for search, plan := range searches {
		for _, name := range names() {
			if search == "review" {
				break
			}
			if search == "sweep" && needsOthers(string(name)) { // the scenario has no Sentinels, and no cluster
				continue
			}
			if err := plan(name); err != nil {
				t.Errorf("%s refuses %s: %v", search, name, err)
			}
		}
		err := plan("half_opne")
		if err == nil || !strings.Contains(err.Error(),
			`there is no class or kind of fault "half_opne": did you mean half_open? Or choose one of pause, `) {
			t.Errorf("%s: %v", search, err)
		}
	}
}

// names are all that searches take.
func names() []lock.Fault {
	var out []lock.Fault
	for _, name := range spaces.FaultNames() {
		out = append(out, lock.Fault(name))
	}
	return out
}

func texts(names []lock.Fault) (out []string) {
	for _, name := range names {
		out = append(out, string(name))
	}
	return out
}

// needsOthers reports whether a kind of fault strikes servers that few worlds have.
func needsOthers(kind string) bool {
	return slices.ContainsFunc(faults.Kinds(), func(f faults.Form) bool { return f.Name == kind && f.Needs() != 0 })
}
