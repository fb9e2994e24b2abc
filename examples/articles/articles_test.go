package articles

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// shows has for each recipe that fails the seed of a drawn run in which it does. 0 is for one that fails in runs
// without a fault.
var shows = map[string]uint64{
	"A1":         1000014,
	"A2-reused":  1000263,
	"A3":         1000044,
	"A4":         1000017,
	"A5":         1000017,
	"A6":         1000008,
	"A7":         1000103,
	"A8-del":     1000001,
	"A8-get-del": 1001363,
	"A9":         1000044,
	"A10":        0,
	"A11":        1000037,
	"A12":        1000012,
	"A13":        1000054,
	"A14":        1000042,
	"A14-incr":   1000006,
	"A23-answer": 1001662,
	"A15":        0,
	"A15-keys":   1000653,
	"A16":        1000002,
	"A17":        1000002,
}

// Each recipe that is wrong fails in a run that is known, and no other one in its first runs.
func TestRecipes(t *testing.T) {
	for _, r := range Recipes() {
		t.Run(r.ID, func(t *testing.T) {
			if r.Try != nil {
				tried(t, r)
				return
			}
			seed, fails := shows[r.ID]
			if fails != r.Fails {
				t.Fatalf("its kind is %q, and the seed with which it fails is %d", r.Kind, seed)
			}
			if err := r.Lock.Missing(); err != nil {
				t.Skip(err)
			}
			strategy := spaces.StrategySwarm // by which the seeds were found, but one
			if r.ID == "A14-incr" {
				strategy = ""
			}
			space, err := search.Discover(r.Lock, spaces.Space{Strategy: strategy})
			if err != nil && !(fails && seed == 0) {
				t.Fatal(err)
			}
			last := uint64(30)
			if r.Lock.Servers != nil {
				last = 8 // a run on PostgreSQL takes a hundred times as long as one on Redis
			}
			cases := search.Drawn(r.Lock, space, outcome.Seeds{First: 1, Last: last})
			switch {
			case seed > 0:
				cases = search.Drawn(r.Lock, space, outcome.Seeds{First: seed, Last: seed})
			case fails:
				r.Lock, cases = search.InCalm(r.Lock), search.CalmCases(r.Lock, space)
			}
			found := false
			for run := range search.Trials(r.Lock, cases) {
				if run.Err != nil || run.Difference != nil {
					t.Fatalf("seed %d: %v, %v", run.Seed, run.Err, run.Difference)
				}
				if found = found || len(run.Violations) > 0; found && !fails {
					t.Errorf("seed %d: %v", run.Seed, run.Violations)
				}
			}
			if found != fails {
				t.Errorf("a run shows a violation: %v, want %v", found, fails)
			}
		})
	}
}

// tried plays a recipe that is no lock: one that is wrong shows it in its first runs, and no other one does.
func tried(t *testing.T, r Recipe) {
	t.Helper()
	if err := r.Lock.Missing(); err != nil {
		t.Skip(err)
	}
	wrong, tested := "", 0
	for seed := uint64(1); seed <= 10 && wrong == ""; seed++ {
		got := r.Try(seed)
		if got.Err != nil {
			t.Fatalf("seed %d: %v", seed, got.Err)
		}
		if wrong = got.Wrong; got.Tested {
			tested++
		}
	}
	if (wrong != "") != r.Fails || tested == 0 {
		t.Errorf("%d runs tested it, and show %q; fails is %v", tested, wrong, r.Fails)
	}
}

// The scenarios show what they expect, and nothing worse, from 20 seeds. That of two locks names the storage with a
// number for each key, too. Overlaps of beliefs of storages are no harm: the holders are late on purpose.
func TestScenarios(t *testing.T) {
	for _, tc := range []struct {
		name, id string
		worst    checker.Label
	}{
		{"a15-one-lock.yaml", "A15", checker.Safe},
		{"a15-two-locks.yaml", "A15", checker.FalseReject},
		{"a15-two-locks.yaml", "A15-once", checker.Safe},
		{"a16.yaml", "A16", checker.Corrupted},
		{"a14-incr.yaml", "A14-incr", checker.Corrupted},
		{"a22.yaml", "A22", checker.Stuck},
		{"a23.yaml", "A2", checker.Corrupted},
		{"a23.yaml", "A23", checker.Safe},
		{"a23-under-way.yaml", "A23", checker.Corrupted},
	} {
		t.Run(tc.name+"/"+tc.id, func(t *testing.T) {
			sc, err := file.Load("./" + tc.name)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(Recipes(), func(r Recipe) bool { return r.ID == tc.id })
			if sc.Store != "" {
				sc.Store = tc.id
			}
			worst, refused := checker.Safe, 0
			for seed := uint64(1); seed <= 20; seed++ {
				o, err := play.Run(sc, Recipes()[i].Lock, play.RunOptions{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range o.Mismatches() {
					t.Errorf("seed %d: %v", seed, m)
				}
				m := o.Modes[0]
				if label := m.Verdict.Label; label.Severity() > worst.Severity() {
					worst = label
				}
				refused += m.Verdict.Facts.StaleRejected
			}
			if worst != tc.worst || refused == 0 && sc.Store != "" {
				t.Errorf("the worst label is %s, with %d refusals of stale operations; want %s", worst, refused, tc.worst)
			}
		})
	}
}
