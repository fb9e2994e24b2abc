package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"locksim/internal/patch"
	"locksim/scenarios/kinds"
)

// subject is what is searched: a mutant, or a kind of lock without a mistake.
type subject struct {
	name       string // GROUP/NAME of a mutant, right/KIND of a lock without a mistake
	kinds      []string
	equivalent string // why no user could notice the mistake; "" if it can be noticed

	patch *patch.Patch // nil: no mistake
}

// patches is the folder of the mutants, relative to the root of the module.
const patches = "internal/reach/patches"

// rightGroup is the group of the locks without a mistake.
const rightGroup = "right"

// readSubjects returns the mutants whose names match wanted, after the right locks of
// their kinds. The error names all patches that are malformed.
func readSubjects(root string, wanted *regexp.Regexp) ([]subject, error) {
	read, err := patch.Read(root, patches, wanted)
	errs := []error{err}
	var mutants []subject
	used := map[string]bool{}
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
			used[kind] = true
		}
		mutants = append(mutants, s)
	}
	var all []subject
	for _, kind := range kinds.Names() {
		if used[kind] {
			all = append(all, subject{name: rightGroup + "/" + kind, kinds: []string{kind}})
		}
	}
	return append(all, mutants...), errors.Join(errs...)
}

// isRight reports whether the subject is a lock without a mistake.
func (s subject) isRight() bool { return s.patch == nil }
