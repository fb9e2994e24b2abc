package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one mistake, and the test that must notice it.
type mutant struct {
	name   string // unique: what a person would call the mistake
	breaks string // what it breaks, in a sentence

	file          string // from the root of the module, with slashes
	find, replace string // find occurs exactly once in file

	pkg  string // the package of the test, such as ./lock
	test string // its name, with /SUBTEST where one part is enough
}

// group is the mutants of one part of locksim.
type group struct {
	title   string
	mutants []mutant
}

// groups is the whole table.
func groups() []group {
	return []group{
		{"The locks (package lock)", lockMutants},
		{"The checkers (package checker)", checkerMutants},
		{"The world (packages sim, sim/redis and sim/store)", worldMutants},
		{"The driver (package scenarios/play)", driverMutants},
	}
}

// all returns the mutants of some groups, in order.
func all(gs []group) []mutant {
	var list []mutant
	for _, g := range gs {
		list = append(list, g.mutants...)
	}
	return list
}

// matching returns the groups with the mutants that keep accepts.
func matching(gs []group, keep func(name string) bool) []group {
	var out []group
	for _, g := range gs {
		some := slices.DeleteFunc(slices.Clone(g.mutants), func(m mutant) bool { return !keep(m.name) })
		if len(some) > 0 {
			out = append(out, group{g.title, some})
		}
	}
	return out
}

// source returns the file with the mistake in it. The error says that the table
// no longer fits the file.
func (m mutant) source(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return "", fmt.Errorf("mutant %s: %w", m.name, err)
	}
	if n := strings.Count(string(text), m.find); n != 1 {
		return "", fmt.Errorf("mutant %s: %s has its text %d times, want once: bring the table up to date\n%s", m.name, m.file, n, m.find)
	}
	if m.find == m.replace {
		return "", fmt.Errorf("mutant %s: it changes nothing", m.name)
	}
	return strings.Replace(string(text), m.find, m.replace, 1), nil
}

// pattern is the value of -run that means the mutant's test and no other.
func (m mutant) pattern() string {
	parts := strings.Split(m.test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return strings.Join(parts, "/")
}
