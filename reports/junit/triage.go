package junit

import (
	"fmt"
	"io"

	"locksim/internal/prose"
	"locksim/scenarios/outcome/triage"
)

// Triage writes what a folder knows of its explorations as JUnit XML, for a CI system: one suite for each lock and what
// it is judged by, with a test case for each violation, by its shape. A case fails if the violation is new or back. It
// is skipped if the violation was known and is still there, and passes if it is gone. The text of a case that did not
// pass says what happened, with the seed and, on the last line, the command that makes the run again.
//
// Triage returns the error of the writer. It only reads the history, and is safe for concurrent use.
func Triage(w io.Writer, h *triage.History) error {
	var suites []suite
	for _, subject := range h.Subjects {
		s := suite{Name: fmt.Sprintf("lock %s, judged by %s", subject.Lock, subject.Judge)}
		s.property("lock", subject.Lock)
		s.property("judge", subject.Judge)
		s.property("round", fmt.Sprint(subject.Rounds))
		for _, shape := range subject.Shapes {
			c := testCase{Class: "explore." + subject.Lock, Name: prose.Visible(shape.Shape)}
			what := prose.Visible(shape.State.Words() + ": " + shape.Text())
			switch shape.State {
			case triage.New, triage.Back:
				c.Failure = &note{Type: string(shape.State), Message: what, Text: how(shape)}
			case triage.Still:
				c.Skipped = &note{Message: what, Text: how(shape)}
			default:
				c.Out = &text{what}
			}
			s.add(c)
		}
		suites = append(suites, s)
	}
	return write(w, suites)
}

// how says what happened in the run of a violation, its seed, and the command that makes it again.
func how(s triage.Shape) string {
	var lines []string
	if s.Happened != "" {
		lines = append(lines, prose.Visible(s.Happened))
	}
	return endedByReplay(append(lines, fmt.Sprintf("seed %d", s.Seed)), s.Replay)
}
