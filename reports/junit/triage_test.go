package junit_test

import (
	"strings"
	"testing"

	"locksim/reports/junit"
	"locksim/scenarios/outcome/triage"
)

// A violation that is new or back fails its case, a known one is skipped, and one that is gone passes.
func TestTriage(t *testing.T) {
	shape := func(name string, state triage.State) triage.Shape {
		return triage.Shape{Shape: name, State: state, First: 1, Last: 2, Seed: 7, Happened: "c0 deletes the key of c1.",
			Replay: "locksim explore --from-seed 7"}
	}
	h := &triage.History{Subjects: []triage.Subject{{Lock: "mylock", Judge: "promise", Rounds: 2, Shapes: []triage.Shape{
		shape("stuck", triage.New), shape("corrupted", triage.Back), shape("overlap", triage.Still),
		shape("void <x>", triage.Gone)}}}}
	var b strings.Builder
	if err := junit.Triage(&b, h); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`tests="4" failures="2" errors="0" skipped="1"`,
		`<failure message="new: first seen in round 1" type="new">` +
			"<![CDATA[c0 deletes the key of c1.\nseed 7\nreplay: locksim explore --from-seed 7]]>",
		`type="back"`, `<skipped message="still there: first seen in round 1"><![CDATA[c0 deletes`, `name="void &lt;x&gt;"`,
		`<property name="round" value="2">`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s in\n%s", want, b.String())
		}
	}
}
