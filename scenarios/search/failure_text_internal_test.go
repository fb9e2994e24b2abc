package search

import (
	"fmt"
	"strings"
	"testing"

	"locksim/scenarios/play"
)

// A shortened story keeps its beginning and the steps before its decisive step.
func TestShortStory(t *testing.T) {
	var lines []play.Line
	for i := range 200 {
		lines = append(lines, play.Line{N: i + 1, Actor: "c0", Text: fmt.Sprint("step ", i+1), Fatal: i == 149})
	}
	got := shortStory(lines)
	if len(got) != maxStory+2 || !strings.Contains(got[opening], "96 steps left out") || !strings.Contains(got[len(got)-1], "44 steps left out") {
		t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
	if !strings.HasPrefix(got[len(got)-2-aftermath], ">  150") {
		t.Errorf("the decisive step is at another line:\n%s", strings.Join(got, "\n"))
	}
	if short := shortStory(lines[:40]); len(short) != 40 {
		t.Errorf("%d of 40 lines", len(short))
	}
}
