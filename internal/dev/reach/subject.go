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

// subject is what is searched: a mutant.
type subject struct {
	name       string // GROUP/NAME
	kinds      []string
	equivalent string // why no user could notice the mistake; "" if it can be noticed

	patch *patch.Patch     // of a mutant made by hand
	edit  *mechanical.Edit // of a mechanical mutant
}

// patches is the folder of the mutants made by hand, relative to the root of the module.
const patches = "internal/dev/reach/patches"

// equivalents has a line "NAME: REASON" for each mechanical mutant that no user could notice. It is relative to the
// root of the module.
const equivalents = "internal/dev/reach/equivalent.txt"

// readSubjects returns the mutants: those made by hand, and then the mechanical ones. The error names all patches that
// are malformed.
func readSubjects(root string) ([]subject, error) {
	byHand, errPatches := readPatches(root)
	drawn, errMechanical := readMechanical(root)
	return append(byHand, drawn...), errors.Join(errPatches, errMechanical)
}

// readPatches returns the mutants made by hand.
func readPatches(root string) ([]subject, error) {
	read, err := patch.Read(root, patches, regexp.MustCompile(""))
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
func readMechanical(root string) ([]subject, error) {
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
			return nil, fmt.Errorf("%s: package lock has no place for %s any more: make the file anew, with go -C "+
				"internal/dev run ./mutants sample",
				mechanical.SampleFile, u.Name)
		}
		s := subject{name: u.Name, kinds: all[i].Kinds(), equivalent: reasons[u.Name], edit: &all[i]}
		delete(reasons, u.Name)
		if u.Killed {
			mutants = append(mutants, s)
		}
	}
	for name := range reasons {
		err = errors.Join(err, fmt.Errorf("%s: %s is not in the sample", equivalents, name))
	}
	return mutants, err
}

// path is the file that a reader looks at, from the root of the checkout.
func (s subject) path() string {
	if s.patch != nil {
		return s.patch.Path
	}
	return s.edit.File
}

// breaks says in a sentence what is wrong.
func (s subject) breaks() string {
	if s.patch != nil {
		return s.patch.Breaks
	}
	return s.edit.Breaks()
}

// overlay writes the overlay of a mutant into dir, and returns the name for the flag of the go command.
func (s subject) overlay(root, dir string) (string, error) {
	if s.patch != nil {
		return s.patch.Overlay(root, dir)
	}
	return s.edit.Overlay(root, dir)
}
