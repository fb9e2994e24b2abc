package failure

import (
	"fmt"
	"testing"
	"time"

	"locksim/scenarios/outcome"

	"github.com/google/go-cmp/cmp"
)

// A story keeps its beginning, the way to its decisive step, and the aftermath.
func TestShortStory(t *testing.T) {
	var lines []outcome.Line
	for i := range 200 {
		lines = append(lines, outcome.Line{N: i + 1, Actor: "c0", Text: fmt.Sprint("step ", i+1), Fatal: i == 149})
	}
	got := ShortStory(lines)
	if len(got) != maxStory+2 || got[opening] != (Step{Skipped: 96}) || got[len(got)-1] != (Step{Skipped: 44}) {
		t.Errorf("%d steps:\n%s", len(got), storyText(got))
	}
	if s := got[len(got)-2-aftermath]; s.N != 150 || !s.Fatal {
		t.Errorf("the decisive step is not before the aftermath:\n%s", storyText(got))
	}
	if short := ShortStory(lines[:40]); len(short) != 40 {
		t.Errorf("%d of 40 steps", len(short))
	}
}

// A line without which the decisive step is not understood is never left out.
func TestShortStoryKeepsWhatDecides(t *testing.T) {
	var lines []outcome.Line
	for i := range 200 {
		lines = append(lines, outcome.Line{N: i + 1, Fatal: i == 149, Decides: i == 50})
	}
	got := ShortStory(lines)
	if len(got) != maxStory+4 || got[opening] != (Step{Skipped: 44}) || got[opening+1].N != 51 ||
		got[opening+2] != (Step{Skipped: 51}) {
		t.Errorf("%d steps:\n%s", len(got), storyText(got))
	}
}

func TestStoryText(t *testing.T) {
	got := storyText([]Step{
		{N: 1, Actor: "c0", Text: "asks for the lock"},
		{N: 441, At: 10511066 * time.Microsecond, Actor: "s0", Text: "takes write c0.w2", Fatal: true},
		{Skipped: 3},
	})
	want := "     1           0s  c0     asks for the lock\n" +
		">  441   10.511066s  s0     takes write c0.w2\n" +
		"                     … 3 lines left out"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
