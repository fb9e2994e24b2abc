package search

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// A story keeps its beginning and the way to its decisive step.
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
		t.Errorf("the decisive step is not where it belongs:\n%s", strings.Join(got, "\n"))
	}
	if short := shortStory(lines[:40]); len(short) != 40 {
		t.Errorf("%d of 40 lines", len(short))
	}
}

// Neither chance nor order decides what is stored for a failure.
func TestFoundIsDeterministic(t *testing.T) {
	l, err := play.Kind("broken/del-without-owner")
	if err != nil {
		t.Fatal(err)
	}
	space, err := Discover(l, Space{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); ; seed++ {
		sc := Draw(Seeded(seed), space)
		_, broken, err := l.Try(sc, seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(broken) > 0 {
			if a, b := examined(t, l, sc, seed), examined(t, l, sc, seed); !bytes.Equal(a, b) {
				t.Errorf("one time:\n%s\nthe other:\n%s", a, b)
			}
			return
		}
	}
}

// examined is what there is to say about a failure, without its timing.
func examined(t *testing.T, l play.Lock, sc *file.Scenario, seed uint64) []byte {
	t.Helper()
	f, err := Examine(l, sc, seed)
	if err != nil {
		t.Fatal(err)
	}
	if f.Same != Replays || f.Again != Replays || f.Replays != Replays {
		t.Errorf("%d equal, %d broken, of %d", f.Same, f.Again, f.Replays)
	}
	f.Run.Timing = play.Timing{}
	text, err := f.Run.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return append(text, f.Text()...)
}
