package blame_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"locksim/internal/cases/reported"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/blame"
	"locksim/scenarios/play"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/zklocks"
)

// played is the outcome of a row in its mode alone.
func played(t *testing.T, r row) *outcome.Outcome {
	t.Helper()
	sc, err := file.Load(r.scenario)
	if path := filepath.Join("../../../internal/cases/reported/scenarios", r.scenario+".yaml"); err != nil {
		sc, err = file.Load(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, lockOf(t, r.lock), play.RunOptions{Seed: r.seed, Modes: []fence.Mode{fence.Mode(r.mode)}})
	if missing, ok := errors.AsType[*play.MissingError](err); ok && testruns.WithoutPostgres(missing.Why) {
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// lockOf is the lock of that name.
func lockOf(t *testing.T, name string) play.Lock {
	t.Helper()
	all := slices.Concat(etcdlocks.All(), zklocks.All(), sqllocks.All(), sentinellocks.All(), reported.All())
	if i := slices.IndexFunc(all, func(l play.Lock) bool { return l.Name == name }); i >= 0 {
		return all[i]
	}
	l, err := play.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What is found of each run is right.
func TestTable(t *testing.T) {
	for _, r := range table {
		t.Run(r.scenario+" "+r.lock, func(t *testing.T) {
			o := played(t, r)
			f := o.Blame(&o.Modes[0])
			got := row{r.scenario, r.lock, r.mode, r.seed, f.Culprit, f.Remedy(), f.Deed, f.By, f.Of}
			if r.by == "" {
				got.by = ""
			}
			if r.of == "" {
				got.of = ""
			}
			told := slices.ContainsFunc(o.Modes[0].Story, func(l outcome.Line) bool { return l.N == int(f.At) })
			seen := []blame.Deed{blame.Deletes, blame.Overwrites, blame.Prolongs, blame.Retakes}
			if slices.Contains(seen, f.Deed) && !told {
				t.Errorf("the story does not tell of step %d", f.At)
			}
			if got != r {
				t.Errorf("%s, %+v: want %+v", o.Modes[0].Verdict.Label, f, r)
			}
		})
	}
}

// No scenario of the library, of which each shows what no lock can prevent, or not this one, is the fault of a
// right lock.
func TestRightLocksAreNotAccused(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes hundreds of runs")
	}
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range all {
		for _, lock := range []string{"single", "watchdog-fenced", "redlock", "reentrant", "etcd-mutex", "zookeeper"} {
			if _, named := sc.Expect[lock]; !named {
				continue
			}
			o := played(t, row{scenario: sc.Name, lock: lock, mode: "none", seed: 1})
			if f := o.Blame(&o.Modes[0]); f.Culprit == blame.Lock {
				t.Errorf("%s, %s: %s: %+v", sc.Name, lock, o.Modes[0].Verdict.Label, f)
			}
		}
	}
}
