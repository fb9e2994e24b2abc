package matrix_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
)

// A plan that was stored and read again has the same jobs, in the same order, and
// makes the same matrix of the same answers.
func TestPlanIsStored(t *testing.T) {
	library, err := file.Load("calm")
	if err != nil {
		t.Fatal(err)
	}
	opts := matrix.Options{Scenarios: []*file.Scenario{paused(t, "locks: [fenced, single]\n"), library},
		Seeds: outcome.Seeds{First: 3, Last: 44},
		Modes: []fence.Mode{fence.Seal, fence.None}, Locks: []string{"*"}, Extra: []subject.Lock{{Name: "mine"}}}
	p := plan(t, opts)
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := matrix.ReadPlan(data, opts.Extra)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Jobs(), again.Jobs()); diff != "" {
		t.Error(diff)
	}
	answers := make([]matrix.Answer, len(p.Jobs()))
	for i := range answers {
		answers[i] = matrix.Answer{Tallies: []matrix.Tally{oneSafe(fence.None)}}
	}
	if diff := cmp.Diff(p.Assemble(answers, runCommand), again.Assemble(answers, runCommand)); diff != "" {
		t.Error(diff)
	}
	twice, err := json.Marshal(again)
	if diff := cmp.Diff(string(data), string(twice)); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func runCommand(scenario, lock string, seed uint64, modes ...fence.Mode) string {
	return scenario + lock
}

func TestReadPlanRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "this is no plan of a matrix",
		`{}`: "is invalid: ",
		`{"seeds":{"first":1,"last":2},"modes":["none"]}`: matrix.ErrEmptyMatrix.Error(),
		`{"seeds":{"first":2,"last":1},"modes":["none"],"scenarios":{"x":{"file":"x.yaml","source":"name: x","locks":["single"]}}}`: "is invalid: ",
		`{"seeds":{"first":0,"last":18446744073709551615},"modes":["none"]}`:                                                        "is invalid: ",
		`{"seeds":{"first":1,"last":2},"modes":["non"],"scenarios":{"x":{"file":"x.yaml","source":"name: x","locks":["single"]}}}`:  "is invalid: ",
		`{"seeds":{"first":1,"last":2},"modes":["none"],"scenarios":{"x":{"file":"x.yaml","source":"nam: x","locks":["single"]}}}`:  "x.yaml:1:",
		`{"seeds":{"first":1,"last":2},"modes":["none"],"scenarios":{"x":{"file":"x.yaml","source":"name: y","locks":["single"]}}}`: "scenario x is called y",
		`{"seeds":{"first":1,"last":2},"modes":["none"],"scenarios":{"x":{"file":"x.yaml","source":"name: x","locks":["mine"]}}}`:   `a lock that this program does not know: there is no lock "mine"`,
	} {
		if _, err := matrix.ReadPlan([]byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
}
