package terminal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

func timelineOf(t *testing.T, o *outcome.Outcome, opt reports.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := terminal.Timeline(&b, o, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withStory is the paused run with a story of all its steps.
func withStory(mode fence.Mode) outcome.ModeRun {
	m := testreports.Paused(mode)
	m.Story = nil
	for _, e := range m.Trace.Events {
		switch e.What.(type) {
		case trace.Mark, trace.Decision:
			l := testreports.Line(e.N, e.At, e.Actor, e.Kind()+" "+e.Text())
			l.Fatal = e.N == 20
			m.Story = append(m.Story, l)
		case trace.Pause, trace.Resume:
			m.Story = append(m.Story, testreports.Line(e.N, e.At, e.Peer, strings.ToUpper(e.Kind())))
		}
	}
	return m
}

func TestTimeline(t *testing.T) {
	for name, tt := range map[string]struct {
		shows   string
		outcome *outcome.Outcome
		options reports.Options
	}{
		"timeline": {
			shows: "c0 pauses past its claim and still believes, c1 holds beside it; the other modes from where they " +
				"diverge, the same story once",
			outcome: testreports.Outcome(withStory(fence.None), withStory(fence.Check), withStory(fence.Seal),
				testreports.NotApplicable(fence.Strict)),
			options: reports.Options{Repeat: outcome.Twice, Replay: "locksim run gc-pause --seed 1"},
		},
		"timeline-colour": {
			shows:   "colour on the decisive step, on who holds, and another where two do (ESC stands for the escape character)",
			outcome: testreports.Outcome(withStory(fence.None)),
			options: reports.Options{Colour: reports.ANSI},
		},
		"timeline-narrow": {
			shows:   "60 columns: a long text goes on beside the columns, which go on too",
			outcome: testreports.Outcome(withStory(fence.None)),
			options: reports.Options{Width: reports.MinWidth},
		},
	} {
		t.Run(name, func(t *testing.T) {
			testreports.Golden(t, name, tt.shows, timelineOf(t, tt.outcome, tt.options))
		})
	}
}

// signsAt are the two signs of a column at a step.
func signsAt(t *testing.T, text string, column, step int) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(strings.TrimSpace(line), "time  step") {
			continue
		}
		from := strings.Index(line, fmt.Sprintf("c%d", column))
		for _, row := range lines[i+1:] {
			f := strings.Fields(strings.TrimPrefix(row, ">>"))
			if len(f) > 1 && f[1] == fmt.Sprint(step) {
				return string([]rune(row)[from : from+2])
			}
		}
	}
	t.Fatalf("there is no step %d in\n%s", step, text)
	return ""
}

// A column shows the claim, the belief after its end, the wait, and the faults of the
// client as they are in the history.
func TestTimelineSigns(t *testing.T) {
	text := timelineOf(t, testreports.Outcome(withStory(fence.None)), reports.Options{})
	for _, tt := range []struct {
		column, step int
		want         string
	}{
		{0, 1, "?●"}, {0, 5, "┃●"}, {0, 7, "┃z"}, {0, 9, "╎z"}, {0, 17, "╎●"}, {0, 20, "╎ "}, {0, 21, " ●"},
		{1, 1, "  "}, {1, 8, "?●"}, {1, 9, "? "}, {1, 11, "┃●"}, {1, 16, " ●"},
	} {
		if got := signsAt(t, text, tt.column, tt.step); got != tt.want {
			t.Errorf("c%d at step %d: %q, want %q", tt.column, tt.step, got, tt.want)
		}
	}
}

// The belief of a client that checks for the loss of its lease ends with the notice.
func TestTimelineHeedsCare(t *testing.T) {
	m := withStory(fence.None)
	m.History.Care, m.History.Grants[0].LostSeen = checker.CareLost, 17
	if got := signsAt(t, timelineOf(t, testreports.Outcome(m), reports.Options{}), 0, 20); got != "  " {
		t.Errorf("it still has the signs %q", got)
	}
}

// A long story is cut around its decisive step, with a notice on either side.
func TestTimelineIsCut(t *testing.T) {
	m := withStory(fence.None)
	decisive := m.Story[len(m.Story)-2]
	m.Story = append(append(testreports.Steps(1, 500),
		testreports.Fatal(testreports.Line(600, time.Hour, "s0", decisive.Text))), testreports.Steps(700, 500)...)
	text := timelineOf(t, testreports.Outcome(m), reports.Options{})
	testreports.CheckTexts(t, text, []string{">>", "… 351 lines left out", "… 450 lines left out"}, nil)
	if n := strings.Count(text, "passes point"); n != 199 {
		t.Errorf("%d steps besides the decisive one, want 199", n)
	}
}

func TestTimelineOfEqualRuns(t *testing.T) {
	a, b := withStory(fence.None), withStory(fence.None)
	b.Mode = fence.CAS
	testreports.CheckTexts(t, timelineOf(t, testreports.Outcome(a, b), reports.Options{}),
		[]string{"mode cas: corrupted, the same run as mode none, event by event"}, nil)
}

// A mode with a different story is shown, even if it diverges where another mode does.
func TestTimelineShowsWhatDiffers(t *testing.T) {
	other := withStory(fence.Seal)
	last := &other.Story[len(other.Story)-1]
	*last = testreports.Line(last.N, last.At, last.Actor, "gives up")
	text := timelineOf(t, testreports.Outcome(withStory(fence.None), withStory(fence.Check), other), reports.Options{})
	testreports.CheckTexts(t, text, []string{"c0 gives up"}, []string{"the same story"})
}

func TestTimelineIsVisible(t *testing.T) {
	m := withStory(fence.None)
	first := &m.Story[0]
	*first = testreports.Line(first.N, first.At, first.Actor, "asks \x1b[2J for\nthe lock")
	testreports.CheckTexts(t, timelineOf(t, testreports.Outcome(m), reports.Options{}),
		[]string{"c0 asks \ufffd[2J for the lock"}, []string{"\x1b"})
}

func TestTimelineErrors(t *testing.T) {
	if err := terminal.Timeline(io.Discard, testreports.Safe(), reports.Options{Width: 3}); err == nil {
		t.Error("a width of 3 was accepted")
	}
	if err := terminal.Timeline(testreports.FullDisk{}, testreports.Safe(), reports.Options{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("got %v", err)
	}
}
