package checker_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
)

// Each field of Facts has one row, whose functions are about that field.
func TestFactsHaveRows(t *testing.T) {
	var fields, named []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[checker.Facts]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, name)
		row := checker.FactNamed(name)
		facts := checker.Facts{Liveness: checker.LivenessOK}
		if row.In(&facts) {
			t.Errorf("%s is in facts that are all 0", name)
		}
		switch v := reflect.ValueOf(&facts).Elem().FieldByIndex(f.Index); v.Kind() {
		case reflect.Int:
			v.SetInt(1)
		case reflect.Float64:
			v.SetFloat(1)
		case reflect.String:
			v.SetString(map[string]string{"data": "corrupted", "liveness": "leaked"}[name])
		default:
			v.Set(reflect.ValueOf(checker.Calls{Granted: 1}))
		}
		if !row.In(&facts) {
			t.Errorf("%s is not in %+v", name, facts)
		}
		if row.Value(&facts) == "" {
			t.Errorf("%s of %+v is shown as nothing", name, facts)
		}
	}
	for _, f := range checker.FactList() {
		named = append(named, f.Name)
		if f.Means == "" || f.Note != "" && f.Title == "" {
			t.Errorf("%s: a row has a meaning, and a note only with a title: %+v", f.Name, f)
		}
	}
	slices.Sort(fields)
	slices.Sort(named)
	if d := cmp.Diff(fields, named); d != "" {
		t.Errorf("checker.FactList (-fields of Facts +named):\n%s", d)
	}
}

// A fact that leads to a label has words of its own in a table of facts, or is shown with another.
func TestFactsOfLabelsAreShown(t *testing.T) {
	with := []string{"overdue", "leaderless_overdue"} // shown beside the times that they are of
	for _, f := range checker.FactList() {
		if f.Label != "" && (f.Title == "") != slices.Contains(with, f.Name) {
			t.Errorf("%s leads to %s, and its title is %q", f.Name, f.Label, f.Title)
		}
	}
}

func TestFactNamed(t *testing.T) {
	defer func() {
		if p := recover(); p != `checker: there is no fact "clouds"` {
			t.Errorf("it panicked with %v", p)
		}
	}()
	checker.FactNamed("clouds")
}
