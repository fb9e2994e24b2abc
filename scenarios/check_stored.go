package scenarios

import (
	"fmt"
	"slices"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// tryStored tries the failures of earlier runs again, each as it is stored. As
// long as one of them fails, the test ends with them: there is nothing new to
// look for.
func (c *checkup) tryStored() {
	c.t.Helper()
	all, err := loadStored(c.dir, c.lock.Name)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, s := range all {
		c.tryAgain(s)
	}
	if c.stale {
		c.t.FailNow()
	}
}

func (c *checkup) tryAgain(s stored) {
	c.t.Helper()
	sc, err := file.Parse(s.file.File, []byte(s.file.Source), play.ServerNames(c.lock)...)
	if err != nil {
		c.t.Fatalf("%s: its scenario: %v", s.path, err)
	}
	if why := strangerTo(c.lock, s.file, sc); why != "" {
		c.t.Logf("%s is not tried: %s", s.path, why)
		return
	}
	found, err := fails(c.lock, sc, s.file.Seed)
	switch {
	case err != nil:
		c.stale = true
		c.t.Errorf("%s\nstored failure %s", c.noRun(sc, s.file.Seed, err), s.path)
	case found != nil:
		c.stale = true
		c.stillFails(s, found)
	case !s.fixed:
		c.noLongerFails(s)
	}
}

// strangerTo says why a stored failure is none of this test's, or is empty:
// another test judges the same lock otherwise.
func strangerTo(l Lock, f *play.RunFile, sc *Scenario) string {
	if _, ok := f.Modes[l.JudgedMode()]; !ok {
		return fmt.Sprintf("the lock is judged in mode %s here, and was in another then", l.JudgedMode())
	}
	if (len(l.Promise.Exclusion) > 0 || l.Promise.Data != "") && !l.Promises(sc.Faults) && len(sc.Faults) > 0 {
		return "the promise by which the lock is judged here does not speak of its faults"
	}
	return ""
}

// fails plays a stored failure; the result is nil when it passes. What does not
// fail at once may be a matter of chance: where two runs differ, it passes when
// it has passed as often as a failure is replayed.
func fails(l Lock, sc *Scenario, seed uint64) (*search.Found, error) {
	var before *Outcome
	for range search.Replays {
		o, broken, err := l.Try(sc, seed)
		if err != nil {
			return nil, err
		}
		if len(broken) > 0 {
			return search.AsStored(l, sc, seed, broken)
		}
		if before != nil && play.Differ(before, o) == nil {
			return nil, nil
		}
		before = o
	}
	return nil, nil
}

func (c *checkup) stillFails(s stored, f *search.Found) {
	c.t.Helper()
	path, what := s.path, "stored failure "+s.path
	if s.fixed {
		what += ", which had been fixed, fails again"
		if to, err := s.relapse(); err == nil {
			path = to
		}
	}
	c.t.Error(f.Text(slices.Concat([]string{what}, c.stepByStep(path), []string{c.command()})...))
}

func (c *checkup) noLongerFails(s stored) {
	c.t.Helper()
	was := "it failed"
	if m, ok := s.file.Modes[c.lock.JudgedMode()]; ok {
		was = fmt.Sprintf("it was %s", m.Verdict)
	}
	to, err := s.retire()
	if err != nil {
		c.t.Logf("%s no longer fails (%s), and could not be moved to %s: %v", s.path, was, fixedDir, err)
		return
	}
	c.t.Logf("%s no longer fails (%s): moved to %s, where it is watched silently", s.path, was, to)
}
