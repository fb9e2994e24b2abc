package sqlbroken_test

import (
	"os"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/broken/sqlbroken"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := sqllocks.Stop(); err != nil && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// The lock without the mistakes does no harm where each of the specimens does, so it is the mistake that the scenarios
// show. (The other two specimens have a lock of package sqllock; that one is in their scenarios.)
func TestRightDoesNoHarm(t *testing.T) {
	testruns.NeedsPostgres(t)
	for _, x := range []struct {
		scenario, specimen string
		mode               fence.Mode // check where a pause harms each of them without a fence
	}{
		{"sql-release-without-owner", "sql-release-without-owner", fence.None},
		{"sql-takeover-unchecked", "sql-takeover-unchecked", fence.None},
		{"sql-token-read-late", "sql-token-read-late", fence.Check},
		{"sql-cleaner-clock", "sql-cleaner", fence.None},
		{"sql-cleaner-number", "sql-cleaner", fence.Check},
	} {
		wrong := false
		for _, s := range append(sqlbroken.All(), sqlbroken.Right()) {
			isRight := s.Name == sqlbroken.Right().Name
			if s.Name != x.specimen && !isRight {
				continue
			}
			l := sqllocks.Specimen(s)
			sc, err := scenarios.Load(x.scenario, l)
			if err != nil {
				t.Fatal(err)
			}
			o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{x.mode}})
			if err != nil {
				t.Fatal(err)
			}
			harm := o.Modes[0].Verdict.Label == checker.Corrupted
			if isRight && harm {
				t.Errorf("%s: without the mistake it is %s: %s", x.scenario, o.Modes[0].Verdict.Label,
					o.Modes[0].Verdict.Reasons[0].Text)
			}
			wrong = wrong || !isRight && harm
		}
		if !wrong {
			t.Errorf("%s: the mistake does not show", x.scenario)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, s := range sqlbroken.All() {
		if _, err := s.New(nil, sqlbroken.Options{}); err == nil {
			t.Errorf("%s: a lock without a database", s.Name)
		}
	}
}
