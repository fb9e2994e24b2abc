package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/records"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
)

// stored is a failure of an earlier test, read from its file.
type stored struct {
	path string
	file *outcome.RunFile
	// fixed says that it did not fail when it was last tried.
	fixed bool
}

// fixedDir is the folder of the failures that no longer fail, below that of the
// others.
const fixedDir = "fixed"

// loadStored reads the failures of a lock from a folder, and those that no longer
// fail, each in the order of their names: also those that another test of the lock
// has found. The folder may be missing. A file that is no stored run is an
// *InputError, for any lock.
func loadStored(dir, lock string) ([]stored, error) {
	var all []stored
	for _, folder := range []string{dir, filepath.Join(dir, fixedDir)} {
		names, err := filepath.Glob(filepath.Join(escaped(folder), "*.json"))
		if err != nil {
			return nil, fmt.Errorf("look for stored failures in %s: %w", folder, err)
		}
		slices.Sort(names)
		for _, name := range names {
			f, err := readStored(name)
			if err != nil {
				return nil, err
			}
			if f.Lock == lock {
				all = append(all, stored{name, f, folder != dir})
			}
		}
	}
	return all, nil
}

// escaped is a pattern that matches the folder's name alone.
func escaped(folder string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(folder)
}

func readStored(name string) (*outcome.RunFile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, &file.InputError{Pos: faults.Pos{File: name}, Msg: "this stored failure cannot be read: " + err.Error(),
			Err: err}
	}
	return outcome.ReadRunFile(name, data)
}

// store writes a failure that a test has found into a folder, under a name that
// describes it, and its record beside it. A failure that is there already is written again.
func store(dir, test string, f *failure.Failure) (path string, err error) {
	f.Run.Test = test
	text, err := f.Run.JSON()
	if err != nil {
		return "", err
	}
	record, err := records.File(f.Outcome)
	if err != nil {
		return "", fmt.Errorf("store the failure: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("store the failure: %w", err)
	}
	path = filepath.Join(dir, fileName(f))
	if err := errors.Join(replaceFile(records.Beside(path), record), replaceFile(path, text)); err != nil {
		return "", fmt.Errorf("store the failure: %w", err)
	}
	return path, nil
}

// pagePath is where the page of a stored failure is.
func pagePath(stored string) string { return strings.TrimSuffix(stored, ".json") + ".html" }

// markdownPath is where the Markdown of a stored failure is.
func markdownPath(stored string) string { return strings.TrimSuffix(stored, ".json") + ".md" }

// replaceFile writes a file atomically: no other process reads half of it.
func replaceFile(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// fileName is the name of the file of a failure.
func fileName(f *failure.Failure) string {
	label := checker.Label("")
	if len(f.Violations) > 0 {
		label = f.Violations[0].Label
	}
	return search.StoredName(f.Run, label, f.Outcome.Scenario)
}

// retire moves a failure that no longer fails to the folder of those that are tried
// silently, and returns its new path.
func (s stored) retire() (string, error) {
	folder := filepath.Join(filepath.Dir(s.path), fixedDir)
	to := filepath.Join(folder, filepath.Base(s.path))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	err := s.move(to)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // another test of the same lock has moved it
	}
	return to, err
}

// move moves the file, and its other forms and its record beside it if there are any.
func (s stored) move(to string) error {
	for _, beside := range []func(string) string{pagePath, markdownPath, records.Beside} {
		if err := os.Rename(beside(s.path), beside(to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(s.path, to)
}

// unretire moves a failure that fails again back to the others.
func (s stored) unretire() (string, error) {
	to := filepath.Join(filepath.Dir(filepath.Dir(s.path)), filepath.Base(s.path))
	return to, s.move(to)
}

// tryStored tries the stored failures of earlier runs again. If one of them still
// fails, the test ends with them and tries nothing new.
func (c *checkup) tryStored() {
	c.t.Helper()
	if c.failure != "" {
		return
	}
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
	if s.file.Test != "" && s.file.Test != c.name {
		if !s.fixed {
			c.t.Logf("%s is not tried: %s found it; delete its field \"test\" to try it in every test of this lock", s.path,
				s.file.Test)
		}
		return
	}
	sc, err := file.Parse(s.file.File, []byte(s.file.Source), subject.ServerNames(c.lock)...)
	if err != nil {
		c.t.Fatalf("%s: its scenario: %v", s.path, err)
	}
	if s.file.Death != nil && c.diesAgain(s) {
		return
	}
	if why := search.Untried(c.lock, s.file, sc); why != "" {
		c.t.Logf("%s is not tried: %s", s.path, why)
		return
	}
	again := search.Case{Scenario: sc, Seed: s.file.Seed}
	c.running.note(noted{What: storedBefore, Seed: again.Seed, File: s.path})
	found, err := search.Fails(c.lock, again)
	switch {
	case err != nil:
		c.stale = true
		c.t.Errorf("%s\nstored failure %s", c.noRun(again, err), s.path)
	case found != nil:
		c.stale = true
		c.t.Error(c.stillFails(s, found))
	case !s.fixed:
		c.noLongerFails(s)
	}
}

// stillFails describes a stored failure that fails again.
func (c *checkup) stillFails(s stored, f *failure.Failure) string {
	path, what := s.path, "stored failure "+s.path
	if s.fixed {
		what += ", which had been fixed, fails again"
		if to, err := s.unretire(); err == nil {
			path = to
		}
	}
	if mode := c.lock.JudgedMode(); s.file.Cause != nil && s.file.Modes[mode].TraceHash == f.Run.Modes[mode].TraceHash {
		f.Outcome.Cause = s.file.Cause // of the same run
	} else {
		c.explain(f)
	}
	return c.describe(f, path, what)
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
	c.t.Logf("%s no longer fails (%s): moved to %s, where it is tried silently", s.path, was, to)
}
