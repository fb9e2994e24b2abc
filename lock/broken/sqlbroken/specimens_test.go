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

// The lock without the mistakes does no harm where each of the specimens does, so it is the mistake that the scenarios show.
// (The other two specimens have a lock of package sqllock; that one is in their scenarios.)
func TestRightDoesNoHarm(t *testing.T) {
	testruns.NeedsPostgres(t)
	for _, name := range []string{"sql-release-without-owner", "sql-takeover-unchecked", "sql-token-read-late"} {
		wrong := false
		for _, s := range append(sqlbroken.All(), sqlbroken.Right()) {
			isRight := s.Name == sqlbroken.Right().Name
			if s.Name != name && !isRight {
				continue
			}
			l := sqllocks.Specimen(s)
			sc, err := scenarios.Load(name, l)
			if err != nil {
				t.Fatal(err)
			}
			mode := fence.None
			if name == "sql-token-read-late" { // without a fence the pause harms each of them
				mode = fence.Check
			}
			o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{mode}})
			if err != nil {
				t.Fatal(err)
			}
			harm := o.Modes[0].Verdict.Label == checker.Corrupted
			if isRight && harm {
				t.Errorf("%s: without the mistake it is %s: %s", name, o.Modes[0].Verdict.Label, o.Modes[0].Verdict.Reasons[0].Text)
			}
			wrong = wrong || !isRight && harm
		}
		if !wrong {
			t.Errorf("%s: the mistake does not show", name)
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
