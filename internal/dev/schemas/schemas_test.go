package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/reports"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// root is the checkout, seen from here.
const root = "../../.."

// The schemas that locksim prints are those of its types.
func TestSchemasAreUpToDate(t *testing.T) {
	names, schemaOf := all()
	for _, name := range names {
		want, err := schemaOf[name](root)
		if err != nil {
			t.Fatal(err)
		}
		got, err := reports.Schema(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("schema %s is not what make schemas writes (-written +there):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(names, reports.Schemas()); diff != "" {
		t.Errorf("schemas (-written +there):\n%s", diff)
	}
}

// The schema of scenarios has the keys of the parser, which lists its own in the error about
// an unknown one: those of the scenario, its groups, a fault, its trigger and each action.
func TestScenarioKeys(t *testing.T) {
	text, err := scenarioSchema(root)
	if err != nil {
		t.Fatal(err)
	}
	var top keys
	if err := json.Unmarshal(text, &top); err != nil {
		t.Fatal(err)
	}
	fault := top.Properties["faults"].Items
	check := func(at keys, text string) {
		t.Helper()
		_, err := file.Parse("x.yaml", []byte(text))
		if err == nil {
			t.Fatalf("this is valid:\n%s", text)
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		_, list, _ := strings.Cut(first, "hoose one of ")
		if diff := cmp.Diff(slices.Sorted(maps.Keys(at.Properties)),
			slices.Sorted(slices.Values(strings.Split(list, ", ")))); diff != "" {
			t.Errorf("%s(-schema +parser):\n%s", text, diff)
		}
	}
	check(top, "xyzzy: 1\n")
	for _, group := range []string{"world", "lock", "workload"} {
		check(top.Properties[group], "name: x\n"+group+": {xyzzy: 1}\n")
	}
	check(*fault, "name: x\nfaults: [{xyzzy: 1}]\n")
	check(fault.Properties["when"], "name: x\nfaults: [{when: {xyzzy: 1}, crash: {process: c0}}]\n")
	for _, k := range faults.Kinds() {
		check(fault.Properties[k.Name], "name: x\nfaults: [{at: 1s, "+k.Name+": {xyzzy: 1}}]\n")
	}
}

// keys are the properties of a schema, and those of its parts.
type keys struct {
	Properties map[string]keys
	Items      *keys
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
		Theirs outcome.Violation `json:"theirs"`
		Ours   Violation         `json:"ours"`
		Count  int               `json:"count"`
	}
	_, err := document{name: "both", value: both{},
		words: map[string]words{"luck": {"luck", "Luck.", []string{"good"}}}}.schema(root)
	for _, want := range []string{
		"outcome.Violation and main.Violation are both violation in $defs",
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
