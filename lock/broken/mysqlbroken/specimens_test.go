package mysqlbroken_test

import (
	"os"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/broken/mysqlbroken"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/mysqllocks"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqllocks.Stop(); err != nil && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// Each specimen does harm in the scenario of its name, and the lock of package sqllock beside it does none.
func TestMistakesShow(t *testing.T) {
	testruns.NeedsMariaDB(t)
	for _, s := range mysqlbroken.All() {
		for _, l := range append(mysqllocks.All(), mysqllocks.Specimen(s)) {
			sc, err := scenarios.Load(s.Name, l)
			if err != nil {
				t.Fatal(err)
			}
			wrong := l.Name == "broken/"+s.Name
			if _, named := sc.Expect[l.Name]; !named {
				continue
			}
			o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
			if err != nil {
				t.Fatal(err)
			}
			got := o.Modes[0].Verdict
			if harm := got.Label == checker.Corrupted || got.Label == checker.Stuck; harm != wrong {
				t.Errorf("%s with %s: %s: %s", s.Name, l.Name, got.Label, got.Reasons[0].Text)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, s := range mysqlbroken.All() {
		if _, err := s.New(nil, mysqlbroken.Options{}); err == nil {
			t.Errorf("%s: a lock without a database", s.Name)
		}
	}
}
