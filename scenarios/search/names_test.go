package search_test

import (
	"slices"
	"strings"
	"testing"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/spaces"
)

// Every class and every kind has a name that means it, and only it, unless a class
// has the name of the kind. Hyphens and underscores are one letter.
func TestNamedFaults(t *testing.T) {
	for _, class := range lock.Faults() {
		for _, name := range spellings(string(class)) {
			classes, kinds, err := spaces.NamedFaults([]string{name})
			if err != nil || !slices.Equal(classes, []lock.Fault{class}) || kinds != nil {
				t.Errorf("%s means classes %v and kinds %v, %v", name, classes, kinds, err)
			}
		}
	}
	for _, k := range faults.Kinds() {
		for _, name := range spellings(k.Name) {
			classes, kinds, err := spaces.NamedFaults([]string{name})
			if err != nil || len(classes)+len(kinds) != 1 {
				t.Errorf("%s means classes %v and kinds %v, %v", name, classes, kinds, err)
			}
			if asClass := slices.Contains(lock.Faults(), lock.Fault(strings.ReplaceAll(k.Name, "_", "-"))); !asClass &&
				!slices.Equal(kinds, []string{k.Name}) {
				t.Errorf("%s means classes %v and kinds %v", name, classes, kinds)
			}
		}
		for _, class := range k.Classes() {
			if !slices.Contains(lock.Faults(), class) {
				t.Errorf("%s is of class %q, which no name means", k.Name, class)
			}
		}
		if name := spaces.FaultName(nil, k.Action()); !slices.Contains(spaces.FaultNames(), name) {
			t.Errorf("%s is called %s, which is no name", k.Name, name)
		}
	}
	if names := spaces.FaultNames(); len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("a name is there twice: %v", names)
	}
}

func spellings(name string) []string {
	return []string{name, strings.ReplaceAll(name, "_", "-"), strings.ReplaceAll(name, "-", "_")}
}

// Without names the search chooses; none, and an empty list, are no faults. A name
// twice, in whatever spelling, is one.
func TestNamedFaultsInLists(t *testing.T) {
	if classes, kinds, err := spaces.NamedFaults[string](nil); classes != nil || kinds != nil || err != nil {
		t.Errorf("no list: %v, %v, %v", classes, kinds, err)
	}
	for _, list := range [][]string{{}, {"none"}} {
		if classes, kinds, err := spaces.NamedFaults(list); classes == nil || len(classes) > 0 || kinds != nil || err != nil {
			t.Errorf("%v: %v, %v, %v", list, classes, kinds, err)
		}
	}
	classes, kinds, err := spaces.NamedFaults([]string{"half-open", "wall_clock", "pause", "half_open", "wall-clock"})
	if !slices.Equal(classes, []lock.Fault{"wall-clock", "pause"}) || !slices.Equal(kinds, []string{"half_open"}) ||
		err != nil {
		t.Errorf("%v, %v, %v", classes, kinds, err)
	}
	for list, want := range map[string]string{
		"pase":       `there is no class or kind of fault "pase": did you mean pause?`,
		"cut-hold":   `there is no class or kind of fault "cut-hold": choose one of pause, crash, `,
		"pause,none": "none stands alone",
	} {
		if _, _, err := spaces.NamedFaults(strings.Split(list, ",")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", list, err, want)
		}
	}
}
