package reach

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locksim/internal/dev/mechanical"
	"locksim/internal/dev/patch"
	"locksim/scenarios/kinds"
)

// subject is what is searched: a mutant, or a kind of lock without a mistake.
type subject struct {
	name       string // GROUP/NAME of a mutant, right/KIND of a lock without a mistake
	kinds      []string
	equivalent string // why no user could notice the mistake; "" if it can be noticed

	patch *patch.Patch     // of a mutant made by hand
	edit  *mechanical.Edit // of a mechanical mutant
}

// patches is the folder of the mutants made by hand, relative to the root of the module.
const patches = "internal/dev/reach/patches"

// resultsFile has the results, sweepScenario the scenario of the sweep. Both are relative to the root of the checkout.
const (
	resultsFile   = "internal/dev/reach/results.jsonl"
	sweepScenario = "internal/dev/reach/sweep.yaml"
)

// equivalents has a line "NAME: REASON" for each mechanical mutant that no user could notice. It is relative to the
// root of the module.
const equivalents = "internal/dev/reach/equivalent.txt"

// rightGroup is the group of the locks without a mistake.
const rightGroup = "right"

// readSubjects returns the mutants whose names match wanted, after the right locks of
// their kinds: those made by hand, and then the mechanical ones. The error names all patches that are malformed.
func readSubjects(root string, wanted *regexp.Regexp) ([]subject, error) {
	mutants, errPatches := readPatches(root, wanted)
	drawn, errMechanical := readMechanical(root, wanted)
	mutants = append(mutants, drawn...)
	var all []subject
	for _, kind := range kinds.Names() {
		if slices.ContainsFunc(mutants, func(s subject) bool { return slices.Contains(s.kinds, kind) }) {
			all = append(all, subject{name: rightGroup + "/" + kind, kinds: []string{kind}})
		}
	}
	return append(all, mutants...), errors.Join(errPatches, errMechanical)
}

// readPatches returns the mutants made by hand.
func readPatches(root string, wanted *regexp.Regexp) ([]subject, error) {
	read, err := patch.Read(root, patches, wanted)
	errs := []error{err}
	var mutants []subject
	for _, p := range read {
		s := subject{name: p.Name, patch: &p}
		for i, line := range p.Header {
			key, text, _ := strings.Cut(line, ": ")
			switch {
			case key == "Kinds" && i == 0:
				s.kinds = strings.Fields(text)
			case key == "Equivalent" && i == 1:
				s.equivalent = text
			default:
				errs = append(errs, p.Errorf(i+2, `want "Kinds: KIND…", and then an empty line or "Equivalent: REASON"`))
			}
		}
		if len(s.kinds) == 0 {
			errs = append(errs, p.Errorf(2, `want "Kinds: KIND…"`))
		}
		for _, kind := range s.kinds {
			if !slices.Contains(kinds.Names(), kind) {
				errs = append(errs, p.Errorf(2, "there is no lock %s", kind))
			}
		}
		mutants = append(mutants, s)
	}
	return mutants, errors.Join(errs...)
}

// readMechanical returns the mechanical mutants of the sample that the unit tests kill. No measure counts the others,
// and a search that finds nothing costs a thousand times what one that finds something does.
func readMechanical(root string, wanted *regexp.Regexp) ([]subject, error) {
	r, err := mechanical.ReadSample(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mechanical.SampleFile, err)
	}
	all, err := mechanical.List(root)
	if err != nil {
		return nil, err
	}
	reasons, err := mechanical.Reasons(root, equivalents, ": ")
	if err != nil {
		return nil, err
	}
	var mutants []subject
	for _, u := range r.Mutants {
		i := slices.IndexFunc(all, u.Is)
		if i < 0 {
			return nil, fmt.Errorf("%s: package lock has no place for %s any more: make the file anew, with go -C internal/dev run ./mutants sample",
				mechanical.SampleFile, u.Name)
		}
		s := subject{name: u.Name, kinds: all[i].Kinds(), equivalent: reasons[u.Name], edit: &all[i]}
		delete(reasons, u.Name)
		if u.Killed && wanted.MatchString(s.name) {
			mutants = append(mutants, s)
		}
	}
	for name := range reasons {
		err = errors.Join(err, fmt.Errorf("%s: %s is not in the sample", equivalents, name))
	}
	return mutants, err
}

// isRight reports whether the subject is a lock without a mistake.
func (s subject) isRight() bool { return s.patch == nil && s.edit == nil }

// counts reports whether the measure of the subject's group counts it: locksim should find it.
func (s subject) counts() bool { return !s.isRight() && s.equivalent == "" }

// starts is the number of first seeds from which a subject is explored. For one that does not count, it is one: make
// promises explores the right locks at length.
func (s subject) starts(l limits) int {
	if s.counts() {
		return l.Starts
	}
	return 1
}

// ended reports whether no search is missing in a result: it has those from all first seeds, too.
func (s subject) ended(r result, l limits) bool {
	if s.edit != nil && r.Unbuilt == "" {
		_, missing := s.next(r, l)
		return !missing
	}
	return s.complete(r) && !slices.ContainsFunc(r.Kinds, func(k kindResult) bool { return len(k.Explore) < s.starts(l) })
}

// complete reports whether a result has all searches from the first of the first seeds. It then counts, and those from
// the others add how many of them find the mistake.
func (s subject) complete(r result) bool {
	switch {
	case r.Unbuilt != "":
		return true
	case s.edit != nil:
		return r.found() || len(r.Searches) >= len(s.steps())*len(s.kinds)
	}
	for _, k := range r.Kinds {
		if len(k.Explore) == 0 {
			return false
		}
	}
	return len(r.Kinds) == len(s.kinds) || !s.isRight() && r.found()
}

// source is the text of the mutant, with which its results are made.
func (s subject) source() string {
	switch {
	case s.patch != nil:
		return s.patch.Text
	case s.edit != nil:
		return s.edit.Name + "\n" + s.edit.Before + "\n" + s.edit.After
	}
	return ""
}

// overlay writes the overlay of a mutant into dir, and returns the name for the flag of the go command.
func (s subject) overlay(root, dir string) (string, error) {
	if s.patch != nil {
		return s.patch.Overlay(root, dir)
	}
	return s.edit.Overlay(root, dir)
}
