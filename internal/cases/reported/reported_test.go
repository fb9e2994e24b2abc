package reported_test

import (
	"path/filepath"
	"testing"

	"locksim/checker"
	"locksim/internal/cases/reported"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/file"
)

// lockOf is the lock of that name.
func lockOf(t *testing.T, name string) scenarios.Lock {
	t.Helper()
	for _, l := range reported.All() {
		if l.Name == name {
			return l
		}
	}
	l, err := scenarios.Kind(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// verdictOf is the verdict of a scenario of this folder in mode none.
func verdictOf(t *testing.T, scenario, lock string) checker.Verdict {
	t.Helper()
	sc, err := file.Load(filepath.Join("scenarios", scenario+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := scenarios.Run(sc, lockOf(t, lock), scenarios.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None},
		Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	return o.Modes[0].Verdict
}

// Each was passed, though it is wrong: see the comment of each lock.
func TestWrongIsSaid(t *testing.T) {
	for _, c := range []struct {
		scenario, lock string
		wrong          func(f checker.Facts) bool
	}{
		{"late-write-of-a-rival", "read-back-renewed", func(f checker.Facts) bool { return f.ClaimOverlaps > 0 }},
		{"force", "by-force", func(f checker.Facts) bool { return f.ClaimOverlaps > 0 }},
		{"idle-waiter-without-limit", "single", func(f checker.Facts) bool { return f.Overdue > 0 }},
		{"idle-waiter-asks-again", "single", func(f checker.Facts) bool { return f.Overdue > 0 }},
		{"idle-third-client-blinks", "single", func(f checker.Facts) bool { return f.Overdue > 0 }},
		{"excuse-long-past", "impatient", func(f checker.Facts) bool { return f.Misconduct > 0 }},
		{"orphan", "orphan", func(f checker.Facts) bool { return f.SelfExcluded > 0 }},
		// The right lock beside them.
		{"excuse-long-past", "single", nil}, {"orphan", "control", nil},
		{"late-write-of-a-rival", "renewed", nil}, {"force", "renewed", nil},
	} {
		v := verdictOf(t, c.scenario, c.lock)
		if c.wrong == nil && !v.Label.Clean() || c.wrong != nil && !c.wrong(v.Facts) {
			t.Errorf("%s with %s: %s, %+v", c.scenario, c.lock, v.Label, v.Facts)
		}
	}
}

// A lock that puts its holder out is found by Check as soon as one whose lease tells its end; a lock that closes Lost
// in its release passes calm runs.
func TestChecked(t *testing.T) {
	for name, found := range map[string]bool{"by-force": true, "claim-only": true, "lost-first": false, "lost-last": false,
		"control": false, "renewed": false, "notified": false, "tries-a-minute": false,
		"beat": false, "beat-told": false, "beat-hasty": true, "getset": false} {
		got := failsIn(t, lockOf(t, name), 40)
		if got != found {
			t.Errorf("%s: a violation was found: %t, want %t", name, got, found)
		}
	}
}
