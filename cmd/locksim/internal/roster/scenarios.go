package roster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/prose"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// Load reads a scenario. An error of a file is also that it names a lock which this program does not have, in the locks
// that it is about or in what is expected of them.
func (r Roster) Load(name string) (*file.Scenario, error) {
	sc, err := file.Load(name, r.ServerNames()...)
	if err != nil || sc.InLibrary() {
		return sc, err
	}
	known := slices.Concat(r.LockNames(), r.Specimens(), r.Fences(), kinds.Groups())
	check := func(path, lock string) {
		if err == nil && !slices.Contains(known, lock) {
			err = sc.ErrorAt(sc.Pos(path), "%s: there is no lock %q: %s, or a group: %s", path, lock, r.ChooseLock(lock),
				prose.Commas(kinds.Groups()))
		}
	}
	for i, lock := range sc.Locks {
		check(fmt.Sprintf("locks[%d]", i), lock)
	}
	for _, lock := range slices.Sorted(maps.Keys(sc.Expect)) {
		check("expect."+lock, lock)
	}
	return sc, err
}

// ServerNames are the kinds of servers that the program's own locks bring.
func (r Roster) ServerNames() []server.Facts { return subject.ServerNames(r.Extra...) }

// FindSubject is what plays a scenario: the lock that a flag names, or that of the scenario, with the fence that
// another flag names, or that of the scenario.
func (r Roster) FindSubject(sc *file.Scenario, lockFlag, fenceFlag string) (subject.Lock, error) {
	kind, store := cmp.Or(lockFlag, sc.Lock.Kind), cmp.Or(fenceFlag, sc.Store)
	l, err := redislocks.FindSubject(kind, store, r.Extra)
	unknown, noFence := errors.AsType[*redislocks.UnknownFenceError](err)
	switch {
	case err == nil:
		return l, nil
	case noFence && fenceFlag == "":
		return l, sc.ErrorAt(sc.Pos("store"), "%v", unknown)
	case noFence:
		return l, fmt.Errorf("--fence %s: %w", console.Quote(store), unknown)
	case store != "" && !errors.Is(err, subject.ErrUnknownLock):
		return l, err
	case lockFlag == "":
		return l, NoLock(err, sc.ErrorAt(sc.Pos("lock.kind"), "there is no lock %q: %s", kind, r.ChooseLock(kind)))
	}
	return l, NoLock(err, fmt.Errorf("--lock %s: there is no such lock: %s", console.Quote(kind), r.ChooseLock(kind)))
}

// ChooseScenarios are the scenarios that a flag names, each once; without the flag, all
// of the library.
func (r Roster) ChooseScenarios(lists []string) ([]*file.Scenario, error) {
	patterns := SplitList(lists)
	if len(patterns) == 0 {
		all, err := redislocks.Library(r.Extra)
		if err != nil {
			return nil, &console.BrokenError{Cause: err}
		}
		return all, nil
	}
	var chosen []*file.Scenario
	for _, pattern := range patterns {
		found, err := r.matchingScenarios(pattern)
		if err != nil {
			return nil, err
		}
		for _, sc := range found {
			if !slices.ContainsFunc(chosen, func(c *file.Scenario) bool { return c.Name == sc.Name && c.File == sc.File }) {
				chosen = append(chosen, sc)
			}
		}
	}
	return chosen, nil
}

// Also are the scenarios in the files of a flag.
func (r Roster) Also(files []string) ([]*file.Scenario, error) {
	var all []*file.Scenario
	for _, pattern := range files {
		found, err := r.matchingFiles("also", pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// matchingScenarios are the scenarios that match a name, a file or a pattern.
func (r Roster) matchingScenarios(pattern string) ([]*file.Scenario, error) {
	if !strings.ContainsAny(pattern, `*?[`) {
		sc, err := r.Load(pattern)
		return []*file.Scenario{sc}, err
	}
	if strings.ContainsAny(pattern, `/\`) {
		return r.matchingFiles("scenario", pattern)
	}
	all, err := redislocks.Library(r.Extra)
	if err != nil {
		return nil, &console.BrokenError{Cause: err}
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("--scenario %s: %w: write a name, or one with *, such as late-*", console.Quote(pattern), err)
	}
	found := slices.DeleteFunc(all, func(sc *file.Scenario) bool {
		fits, _ := path.Match(pattern, sc.Name)
		return !fits
	})
	if len(found) == 0 {
		return nil, fmt.Errorf("--scenario %s: no scenario of the library has such a name: see locksim list",
			console.Quote(pattern))
	}
	return found, nil
}

// matchingFiles are the scenarios in the files that match a pattern of a flag.
func (r Roster) matchingFiles(flag, pattern string) ([]*file.Scenario, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w: write a path, or one with *, such as './mine/*.yaml'", flag,
			console.Quote(pattern), err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("--%s %s: there is no such file", flag, console.Quote(pattern))
	}
	var found []*file.Scenario
	for _, name := range files {
		sc, err := r.Load(name)
		if err != nil {
			return nil, err
		}
		found = append(found, sc)
	}
	return found, nil
}

// SplitList are the items of comma-separated lists.
func SplitList(lists []string) []string {
	var all []string
	for _, list := range lists {
		for _, word := range strings.Split(list, ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
	}
	return all
}
