package bruteforce_test

import (
	"os"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/mysqllocks"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
)

// TestRunsAreJudgedTheSame plays the scenarios of the library with all locks that
// they name, the specimens too, in all fencing modes: both judges have the same
// label and the same facts. With LOCKSIM_SOAK=1 it plays all with three seeds.
func TestRunsAreJudgedTheSame(t *testing.T) {
	locks := slices.Concat(etcdlocks.All(), zklocks.All())
	all := os.Getenv("LOCKSIM_SOAK") == "1"
	if all {
		locks = slices.Concat(locks, sqllocks.All(), mysqllocks.All())
	}
	library, err := redislocks.Library(locks)
	if err != nil {
		t.Fatal(err)
	}
	type pair struct {
		scenario *file.Scenario
		lock     string
		seed     uint64
	}
	var pairs []pair
	for seed := range uint64(3) {
		for _, sc := range library {
			if !all && sc.World.Count("postgres")+sc.World.Count("mariadb") > 0 { // a run takes a tenth of a second
				continue
			}
			for _, name := range sc.LockNames() {
				if !all && slices.ContainsFunc(mysqllocks.All(), func(l subject.Lock) bool { return l.Name == name }) {
					continue
				}
				pairs = append(pairs, pair{sc, name, seed + 1})
			}
		}
	}
	// Of facts that few scenarios have one run each, and a part of the pairs, spread over all of them.
	var chosen []pair
	for _, sc := range library {
		if slices.Contains([]string{"self-deadlock", "etcd-session-reenters", "stock-of-ten"}, sc.Name) {
			chosen = append(chosen, pair{sc, sc.Lock.Kind, 1})
		}
	}
	part := testruns.Soak(t, len(pairs), 0.02)
	for i := range part {
		chosen = append(chosen, pairs[i*len(pairs)/part])
	}
	runs, labels := 0, map[checker.Label]int{}
	for _, p := range chosen {
		l, err := redislocks.Find(p.lock, locks)
		if testruns.WithoutPostgres(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		modes := slices.DeleteFunc(fence.Modes(), func(m fence.Mode) bool { return m.NeedsToken() && !l.Tokens })
		o := testruns.Play(t, p.scenario, l, play.RunOptions{Seed: p.seed, Modes: modes})
		var none *checker.Facts
		for _, m := range o.Modes {
			for _, d := range differences(m.History, none, m.Verdict) {
				t.Errorf("%s, lock %s, seed %d, mode %s: %s", p.scenario.Name, p.lock, p.seed, m.Mode, d)
			}
			if m.Mode == fence.None {
				none = &m.Verdict.Facts
			}
			runs++
			labels[m.Verdict.Label]++
		}
	}
	t.Logf("%d runs: %v", runs, labels)
}
