package junit_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/junit"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
)

// The module reports/formattest reads JUnit files of real runs with another parser.
// The tests here compare files with golden ones.

func junitFile(t *testing.T, o *outcome.Outcome, opt reports.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := junit.Run(&b, o, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRun(t *testing.T) {
	o := testreports.Outcome(testreports.Corrupted(), testreports.Rescued(fence.Check),
		testreports.NotApplicable(fence.Seal))
	o.Scenario.Expect["fenced"] = map[fence.Mode]checker.Label{fence.None: checker.Safe, fence.Check: checker.Rescued}
	testreports.Golden(t, "run", "one mode worse than expected, one as expected, one that was not run",
		junitFile(t, o, reports.Options{Replay: "locksim run gc-pause --seed 1"}))
}

func TestRunOfNothingExpected(t *testing.T) {
	o := testreports.Outcome(testreports.Corrupted())
	o.Scenario.Expect = nil
	got := junitFile(t, o, reports.Options{})
	testreports.CheckTexts(t, got, []string{`failures="0"`, "Mode none is corrupted: 369 events"},
		[]string{"was expected", "<failure", "replay"})
}

// judged is a matrix of cells that are as expected, worse, milder, vacuous, and not
// run, of a pair that was not run, and of one that failed.
func judged() *matrices.Matrix {
	m := testreports.Matrix([]string{"single", "fenced"}, map[string][]string{"calm": {".-", ".."},
		"gc-pause": {"", "Xr"}})
	for i := range m.Cells {
		if c := &m.Cells[i]; c.CellRuns != nil {
			c.Labels, c.TraceHash = map[checker.Label]int{c.Label: 20}, strings.Repeat("0123abcd", 8)
		}
	}
	m.Cells[2].Vacuous = "no acquire was contended"
	m.Cells[3].Match, m.Cells[3].Expected = matrices.TooGood, checker.Rescued
	m.Cells[4].Match, m.Cells[4].Expected = matrices.TooBad, checker.Safe
	m.Cells[4].Labels = map[checker.Label]int{checker.Overlap: 2, checker.Corrupted: 1, checker.Safe: 17}
	m.NotRun = []matrices.Gap{{Scenario: "gc-pause", Lock: "mylock", Why: "lock mylock has no owners: choose a " +
		"reentrant kind\n  3 | workload"}}
	m.Failures = []matrices.Gap{{Scenario: "gc-pause", Lock: "single", Why: "seeds 1 to 20: the worker process died\nit " +
		"wrote:\npanic: \x1b[2Jowned",
		Replay: "locksim run gc-pause --lock single --seed 1 --fencing none"}}
	return m
}

func TestMatrix(t *testing.T) {
	var b bytes.Buffer
	if err := junit.Matrix(&b, judged()); err != nil {
		t.Fatal(err)
	}
	testreports.Golden(t, "matrix", "cells as expected, vacuous, milder, worse and not run; a pair that was not run and "+
		"one that failed", b.String())
}

// evilText has characters that XML forbids, and the end of a CDATA section.
const evilText = "a]]>b<c>&\"'\x00\x1b[31m\xff\ufffe\r\n"

// For every text of a scenario or a lock, the file is well-formed and has the text.
func TestRunEscapes(t *testing.T) {
	o := testreports.Outcome(testreports.Corrupted(), testreports.NotApplicable(fence.Check))
	o.Scenario.Name, o.Lock = evilText, evilText
	o.Scenario.Expect = map[string]map[fence.Mode]checker.Label{evilText: {fence.None: checker.Safe}}
	o.Modes[0].Verdict.Reasons = []checker.Reason{{Text: evilText}}
	got := junitFile(t, o, reports.Options{Replay: evilText})
	m := judged()
	m.Scenarios[0].Title, m.Failures[0].Why, m.NotRun[0].Why = evilText, evilText+"\n"+evilText, evilText
	m.Cells[0].Match, m.Cells[0].Vacuous = matrices.TooBad, evilText
	var b bytes.Buffer
	if err := junit.Matrix(&b, m); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{got, b.String()} {
		testreports.CheckTexts(t, text, nil, []string{"\x1b", "\x00"})
		if inside := textIn(t, text); !strings.Contains(inside, "a]]>b<c>&\"'\ufffd\ufffd[31m") {
			t.Errorf("the text is not in the file:\n%s", inside)
		}
	}
}

// textIn is all text between the tags of a well-formed file.
func textIn(t *testing.T, file string) string {
	t.Helper()
	var all strings.Builder
	dec := xml.NewDecoder(strings.NewReader(file))
	for {
		token, err := dec.Token()
		switch text, isText := token.(xml.CharData); {
		case errors.Is(err, io.EOF):
			return all.String()
		case err != nil:
			t.Fatalf("%v in\n%s", err, file)
		case isText:
			all.Write(text)
		}
	}
}

func TestRunWriterFails(t *testing.T) {
	if err := junit.Run(testreports.FullDisk{}, testreports.Safe(), reports.Options{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("got %v", err)
	}
}
