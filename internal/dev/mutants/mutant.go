package main

import (
	"errors"
	"regexp"
	"strings"

	"locksim/internal/dev/patch"
)

// mutant is one mistake, and the test that must detect it.
type mutant struct {
	patch.Patch
	pkg  string // the package of the test, such as ./lock
	test string // its name, with /SUBTEST where one part is enough
}

// pattern is the value of -run that matches only the mutant's test.
func (m mutant) pattern() string {
	return "^" + strings.ReplaceAll(m.test, "/", "$/^") + "$"
}

// patches is the folder of the mutants, relative to the root of the module.
const patches = "internal/dev/mutants/patches"

var testLine = regexp.MustCompile(`^Test: (\./\S+|\.) (\S+)$`)

// readMutants reads the patches whose names match wanted, in the order of their names.
// The error names all that are malformed.
func readMutants(root string, wanted *regexp.Regexp) ([]mutant, error) {
	read, err := patch.Read(root, patches, wanted)
	errs := []error{err}
	var list []mutant
	for _, p := range read {
		var test []string
		if len(p.Header) == 1 {
			test = testLine.FindStringSubmatch(p.Header[0])
		}
		if test == nil {
			errs = append(errs, p.Errorf(2, `want "Test: ./PACKAGE TEST" and an empty line`))
			continue
		}
		list = append(list, mutant{Patch: p, pkg: test[1], test: test[2]})
	}
	return list, errors.Join(errs...)
}
