package file

import (
	"fmt"
	"slices"
	"testing"
)

// Every failure mode has a scenario that shows it, or a reason why none does.
func TestCatalogueIsComplete(t *testing.T) {
	modes, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range modes {
		if want := fmt.Sprintf("F%02d", i+1); m.ID != want {
			t.Errorf("entry %d is %s, want %s", i+1, m.ID, want)
		}
		if (len(m.Scenarios) > 0) == (m.Missing != "") {
			t.Errorf("%s %s: %d scenarios show it, and it is missing because %q", m.ID, m.Name, len(m.Scenarios), m.Missing)
		}
	}
}

// A scenario names existing entries, each once.
func TestLibraryNamesEntriesOfTheCatalogue(t *testing.T) {
	all, err := Library()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if once := slices.Compact(slices.Sorted(slices.Values(s.Catalogue))); len(once) != len(s.Catalogue) {
			t.Errorf("%s: %v: want each entry once", s.File, s.Catalogue)
		}
		for _, id := range s.Catalogue {
			if !slices.ContainsFunc(failureModes, func(m FailureMode) bool { return m.ID == id }) {
				t.Errorf("%s: there is no %s in the catalogue", s.File, id)
			}
		}
	}
}
