// Package junit writes runs and matrices as JUnit XML, for CI systems.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// Run writes a run as JUnit XML, for a CI system: one suite with a test case for each fencing mode. A case fails when
// its mode is worse than the scenario expects or, live, differs from the simulated world, and is skipped when the lock
// mints no tokens for it. The text of a failure is its reasons, and the command that repeats the run is the last line.
//
// The file has no times: the time of a run is virtual, and the time of the machine
// differs from run to run. Of the options, only Replay is used. Run returns the error
// of the writer. It only reads the outcome, and is safe for concurrent use.
func Run(w io.Writer, o *outcome.Outcome, opt reports.Options) error {
	s := suite{Name: fmt.Sprintf("%s, lock %s, %s", o.Scenario.Name, o.Lock, scene.Origin(o))}
	s.property("scenario", o.Scenario.Name)
	s.property("lock", o.Lock)
	s.property("seed", fmt.Sprint(o.Seed))
	for _, m := range o.Modes {
		s.add(runCase(o, m, opt))
	}
	return write(w, []suite{s})
}

// runCase is the run of one mode as a test case.
func runCase(o *outcome.Outcome, m outcome.ModeRun, opt reports.Options) testCase {
	c := testCase{Class: o.Scenario.Name + "." + o.Lock, Name: string(m.Mode)}
	if m.Verdict.Label == checker.NotApplicable {
		c.Skipped = &note{Message: fmt.Sprintf("mode %s needs fencing tokens, and lock %s mints none", m.Mode, o.Lock)}
		return c
	}
	for _, mismatch := range o.Mismatches() {
		if mismatch.Mode == m.Mode {
			c.Failure = &note{Type: string(m.Verdict.Label), Message: mismatch.String(), Text: because(m, opt.Replay)}
			return c
		}
	}
	c.Out = &text{summaryOf(o, m) + "\n" + because(m, opt.Replay)}
	return c
}

// summaryOf is the result of a mode that did not fail.
func summaryOf(o *outcome.Outcome, m outcome.ModeRun) string {
	text := fmt.Sprintf("Mode %s is %s", m.Mode, m.Verdict.Label)
	if label, ok := o.Expected(m.Mode); ok {
		text += fmt.Sprintf(", and at worst %s was expected", label)
	}
	return text + fmt.Sprintf(": %s, %s of virtual time, trace hash %s", prose.Count(m.Events, "event"),
		prose.Seconds(m.Virtual), m.TraceHash)
}

// because is the reasons of a verdict, one on each line, and last the command that
// repeats the run.
func because(m outcome.ModeRun, replay string) string {
	var lines []string
	for _, r := range m.Verdict.Reasons {
		lines = append(lines, prose.Visible(r.Text))
	}
	return endedByReplay(lines, replay)
}

func endedByReplay(lines []string, replay string) string {
	if replay != "" {
		lines = append(lines, "replay: "+prose.Visible(replay))
	}
	return strings.Join(lines, "\n")
}

// document is the root element.
type document struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	counts
	Suites []suite `xml:"testsuite"`
}

// counts are the numbers of cases by result.
type counts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

// suite is a list of test cases.
type suite struct {
	Name string `xml:"name,attr"`
	counts
	Properties *properties `xml:"properties"`
	Cases      []testCase  `xml:"testcase"`
}

// properties is a list of properties; a nil pointer to it writes no element.
type properties struct {
	List []property `xml:"property"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// testCase is one test. It passed unless Skipped, Error or Failure is set.
type testCase struct {
	Name    string `xml:"name,attr"`
	Class   string `xml:"classname,attr"`
	Skipped *note  `xml:"skipped"`
	Error   *note  `xml:"error"`
	Failure *note  `xml:"failure"`
	Out     *text  `xml:"system-out"`
}

// note is the reason why a case did not pass.
type note struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"` // of characters that prose.Visible keeps, and line breaks
}

type text struct {
	Text string `xml:",cdata"`
}

func (s *suite) property(name, value string) {
	if s.Properties == nil {
		s.Properties = &properties{}
	}
	s.Properties.List = append(s.Properties.List, property{name, value})
}

func (s *suite) add(c testCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	s.Failures += oneIf(c.Failure != nil)
	s.Errors += oneIf(c.Error != nil)
	s.Skipped += oneIf(c.Skipped != nil)
}

// oneIf is 1 for true and 0 for false.
func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func write(w io.Writer, suites []suite) error {
	f := document{Name: "locksim", Suites: suites}
	for _, s := range suites {
		f.Tests += s.Tests
		f.Failures += s.Failures
		f.Errors += s.Errors
		f.Skipped += s.Skipped
	}
	b, err := xml.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report as JUnit XML: %w", err)
	}
	if _, err := io.WriteString(w, xml.Header+string(b)+"\n"); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
