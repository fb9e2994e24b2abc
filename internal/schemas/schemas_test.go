package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/reports"
	"locksim/scenarios/play"
)

// root is the checkout, seen from here.
const root = "../.."

// The schemas that locksim prints are those of its types.
func TestSchemasAreUpToDate(t *testing.T) {
	var all []string
	for _, d := range documents {
		all = append(all, d.name)
		want, err := d.schema(root)
		if err != nil {
			t.Fatal(err)
		}
		got, err := reports.Schema(d.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("schema %s is not what make schemas writes (-written +there):\n%s", d.name, diff)
		}
	}
	if diff := cmp.Diff(all, reports.Schemas()); diff != "" {
		t.Errorf("schemas (-written +there):\n%s", diff)
	}
}

// Violation has the name of another type of the document below.
type Violation struct {
	Mode string `json:"mode"`
}

// Two types of one name, a field without a comment, and words for an unknown property are
// errors: $defs could have only one of the types, the field would have no description, and
// the words remain from a field that was renamed.
func TestWhatCannotBeDescribed(t *testing.T) {
	type both struct {
		Theirs play.Violation `json:"theirs"`
		Ours   Violation      `json:"ours"`
		Count  int            `json:"count"`
	}
	_, err := document{name: "both", value: both{}, words: map[string]words{"luck": {"luck", "Luck.", []string{"good"}}}}.schema(root)
	for _, want := range []string{
		"play.Violation and main.Violation are both violation in $defs",
		"type main.both has no comment",
		"field main.both.Count has no comment",
		"there is no property luck",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say that %s", err, want)
		}
	}
}

func TestDescription(t *testing.T) {
	for _, tt := range []struct{ name, comment, want string }{
		{"Seed", "Seed is the seed of\nthe run.\n", "The seed of the run."},
		{"Runs", "Runs counts the runs.\n", "The number of runs."},
		{"Story", "Story tells the run, see [Outcome.Story].\n", "Story tells the run, see Outcome.Story."},
		{"ID", "IDs are many.\n", "IDs are many."},
		{"Why", "Why says why.\n\nIt is an error.\n", "Why.\n\nIt is an error."},
	} {
		if got := description(tt.name, tt.comment); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
