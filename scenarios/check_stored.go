package scenarios

import (
	"fmt"
	"slices"
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
	sc, err := Parse(s.file.File, []byte(s.file.Source), ServerKinds(c.lock)...)
	if err != nil {
		c.t.Fatalf("%s: its scenario: %v", s.path, err)
	}
	if why := c.lock.strangerTo(s.file, sc); why != "" {
		c.t.Logf("%s is not tried: %s", s.path, why)
		return
	}
	found, err := c.lock.fails(sc, s.file.Seed)
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
func (l Lock) strangerTo(f *RunFile, sc *Scenario) string {
	if _, ok := f.Modes[l.judgedMode()]; !ok {
		return fmt.Sprintf("the lock is judged in mode %s here, and was in another then", l.judgedMode())
	}
	if !l.promisesNothing() && !l.Promises(sc.Faults) && len(sc.Faults) > 0 {
		return "the promise by which the lock is judged here does not speak of its faults"
	}
	return ""
}

// fails plays a stored failure; the result is nil when it passes. What does not
// fail at once may be a matter of chance: where two runs differ, it passes when
// it has passed as often as a failure is replayed.
func (l Lock) fails(sc *Scenario, seed uint64) (*Found, error) {
	var before *Outcome
	for range replays {
		o, broken, err := l.try(sc, seed)
		if err != nil {
			return nil, err
		}
		if len(broken) > 0 {
			return l.asStored(sc, seed, broken)
		}
		if before != nil {
			if _, equal := difference(before, o); equal {
				return nil, nil
			}
		}
		before = o
	}
	return nil, nil
}

// asStored is a failure as it is, without making it smaller once more.
func (l Lock) asStored(sc *Scenario, seed uint64, broken []Violation) (*Found, error) {
	f := &Found{Lock: l.Name, Seed: seed, Drawn: len(sc.Faults), Violations: broken}
	_, err := f.settle(l, sc)
	return f, err
}

func (c *checkup) stillFails(s stored, f *Found) {
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
	if m, ok := s.file.Modes[c.lock.judgedMode()]; ok {
		was = fmt.Sprintf("it was %s", m.Verdict)
	}
	to, err := s.retire()
	if err != nil {
		c.t.Logf("%s no longer fails (%s), and could not be moved to %s: %v", s.path, was, fixedDir, err)
		return
	}
	c.t.Logf("%s no longer fails (%s): moved to %s, where it is watched silently", s.path, was, to)
}
