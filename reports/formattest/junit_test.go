package formattest

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/reports/junit"

	parser "github.com/joshdk/go-junit"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/outcome/matrices"
)

// suites are the suites of a file as the other parser reads them.
func suites(t *testing.T, write func(io.Writer) error) []parser.Suite {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	out, err := parser.Ingest(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range out {
		checkTotals(t, s)
	}
	return out
}

// checkTotals checks that the totals of a suite are those of its cases.
func checkTotals(t *testing.T, s parser.Suite) {
	t.Helper()
	stated := s.Totals
	s.Aggregate()
	if diff := cmp.Diff(s.Totals, stated); diff != "" {
		t.Errorf("suite %s (-counted +stated):\n%s", s.Name, diff)
	}
}

// statuses are the statuses of the cases of a suite.
func statuses(s parser.Suite) map[string]parser.Status {
	out := map[string]parser.Status{}
	for _, c := range s.Tests {
		out[c.Classname+" "+c.Name] = c.Status
	}
	return out
}

func TestJUnitOfARun(t *testing.T) {
	o := played(t, "gc-pause", "single", 1)
	o.Scenario.Expect["single"] = map[fence.Mode]checker.Label{fence.None: checker.Safe}
	const replay = "locksim run gc-pause --lock single"
	all := suites(t, func(w io.Writer) error { return junit.Run(w, o, reports.Options{Replay: replay}) })
	if len(all) != 1 || all[0].Name != "gc-pause, lock single, seed 1" || all[0].Properties["seed"] != "1" {
		t.Fatalf("got %+v", all)
	}
	want := map[string]parser.Status{
		"gc-pause.single none": parser.StatusFailed, "gc-pause.single claim": parser.StatusPassed,
		"gc-pause.single cas":   parser.StatusPassed,
		"gc-pause.single check": parser.StatusSkipped, "gc-pause.single seal": parser.StatusSkipped,
		"gc-pause.single strict": parser.StatusSkipped,
	}
	if diff := cmp.Diff(want, statuses(all[0])); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	failed := all[0].Tests[0]
	if failed.Message != "mode none is corrupted, and safe was expected" {
		t.Errorf("the message is %q", failed.Message)
	}
	text := failed.Error.Error()
	if !strings.HasSuffix(text, "\nreplay: "+replay) || !strings.HasPrefix(text, o.Modes[0].Verdict.Reasons[0].Text+"\n") {
		t.Errorf("the text is %q", text)
	}
}

func TestJUnitOfAMatrix(t *testing.T) {
	m := aMatrix(t)
	all := suites(t, func(w io.Writer) error { return junit.Matrix(w, m) })
	if len(all) != len(m.Scenarios) {
		t.Fatalf("%d suites, want one for each of %d scenarios", len(all), len(m.Scenarios))
	}
	cases := map[string]parser.Status{}
	for _, s := range all {
		for name, status := range statuses(s) {
			cases[name] = status
		}
	}
	want := map[string]parser.Status{"rash.mylock all modes": parser.StatusError} // of two such cases the last
	for _, c := range m.Cells {
		want[c.Scenario+"."+c.Lock+" "+string(c.Mode)] = statusOf(c)
	}
	if diff := cmp.Diff(want, cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if cases["rash.fenced none"] != parser.StatusFailed || cases["calm.single seal"] != parser.StatusSkipped ||
		cases["calm.fenced none"] != parser.StatusPassed {
		t.Errorf("the matrix does not have the cases that this test needs: %v", cases)
	}
}

func statusOf(c matrices.Cell) parser.Status {
	switch {
	case c.Problem() != "":
		return parser.StatusFailed
	case c.CellRuns == nil:
		return parser.StatusSkipped
	}
	return parser.StatusPassed
}
