package app

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/search"
)

// planMatrix finds out what the flags ask for.
func (s matrices) planMatrix(f matrixFlags) (*matrix.Plan, error) {
	modes, err := parseModes(f.fencing)
	if err != nil {
		return nil, err
	}
	seeds, err := search.NewSeeds(f.from, f.seeds)
	if err != nil {
		return nil, fmt.Errorf("--seeds %d --from-seed %d: %w", f.seeds, f.from, err)
	}
	chosen, err := s.chooseScenarios(f.scenarios)
	if err != nil {
		return nil, err
	}
	return matrix.NewPlan(matrix.Options{
		Scenarios: chosen, Locks: words(f.locks), Specimens: f.broken, Modes: modes, Seeds: seeds, Extra: s.extra,
	})
}

// words are the parts of lists with commas.
func words(lists []string) []string {
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

// chooseScenarios are the scenarios that a flag names, each once: all of the
// library where it names none.
func (s matrices) chooseScenarios(lists []string) ([]*file.Scenario, error) {
	patterns := words(lists)
	if len(patterns) == 0 {
		all, err := file.Library()
		if err != nil {
			return nil, &brokenError{cause: err}
		}
		return all, nil
	}
	var chosen []*file.Scenario
	for _, pattern := range patterns {
		found, err := s.fitting(pattern)
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

// fitting are the scenarios that a name, a file or a pattern means.
func (s matrices) fitting(pattern string) ([]*file.Scenario, error) {
	if !strings.ContainsAny(pattern, `*?[`) {
		sc, err := file.Load(pattern, runs(s).serverNames()...)
		return []*file.Scenario{sc}, err
	}
	if strings.ContainsAny(pattern, `/\`) {
		return s.fittingFiles(pattern)
	}
	all, err := file.Library()
	if err != nil {
		return nil, &brokenError{cause: err}
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("--scenario %s: %w: write a name, or one with *, such as late-*", quote(pattern), err)
	}
	found := slices.DeleteFunc(all, func(sc *file.Scenario) bool {
		fits, _ := path.Match(pattern, sc.Name)
		return !fits
	})
	if len(found) == 0 {
		return nil, fmt.Errorf("--scenario %s: no scenario of the library has such a name: see locksim list", quote(pattern))
	}
	return found, nil
}

// fittingFiles are the scenarios in the files of a pattern.
func (s matrices) fittingFiles(pattern string) ([]*file.Scenario, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("--scenario %s: %w: write a path, or one with *, such as './mine/*.yaml'", quote(pattern), err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("--scenario %s: there is no such file", quote(pattern))
	}
	var found []*file.Scenario
	for _, name := range files {
		sc, err := file.Load(name, runs(s).serverNames()...)
		if err != nil {
			return nil, err
		}
		found = append(found, sc)
	}
	return found, nil
}
