package diagram

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// drawnRun is the panel of a run with events and a history only.
func drawnRun(h checker.History, events ...trace.Event) Panel {
	m := &outcome.ModeRun{Mode: "none", Trace: &trace.Trace{Servers: testreports.Servers()}, History: h,
		Verdict: checker.Verdict{Facts: checker.Facts{Liveness: checker.LivenessOK}}}
	for _, e := range events {
		m.Trace.Add(e)
	}
	s := scene.All(&outcome.Outcome{Modes: []outcome.ModeRun{*m}})[0]
	return newPanel(s, scale{end: s.End, width: chartWidth}, maxMessages)
}

// Lanes do not overlap, and are high enough for their rows of faults.
func TestLanesDoNotTouch(t *testing.T) {
	p := drawnRun(checker.History{Holdings: []checker.Holding{{Client: "c0", Resource: "order", From: 1}}},
		testreports.At(0, "c10", "", testreports.Mark(trace.Acquire)),
		testreports.At(0, "c2", "", testreports.Mark(trace.Acquire)),
		testreports.At(0, "c0", "", testreports.Mark(trace.Acquire)),
		testreports.At(0, "r0a", "", trace.Apply{Effects: trace.Text("")}), testreports.At(0, "r0", "", trace.Expire{}),
		testreports.At(1, "world", "c0", trace.Pause{For: 2 * time.Second}),
		testreports.At(1, "world", "c0", trace.Slow{By: time.Second, For: 3 * time.Second}),
		testreports.At(9, "world", "r0", trace.Crash{Mode: "power"}))
	var names []string
	for i, l := range p.Lanes {
		names = append(names, l.Name)
		if i > 0 && l.Y <= p.Lanes[i-1].Bottom() {
			t.Errorf("lane %s begins at %d, and %s ends at %d", l.Name, l.Y, p.Lanes[i-1].Name, p.Lanes[i-1].Bottom())
		}
	}
	if d := cmp.Diff([]string{"c0", "c2", "c10", scene.RecordLane, "r0", "r0a", "s0"}, names); d != "" {
		t.Errorf("lanes (-want +got):\n%s", d)
	}
	if p.Bands[0].Y == p.Bands[1].Y {
		t.Error("two simultaneous faults are on the same row")
	}
	if last := p.Lanes[len(p.Lanes)-1]; p.Height < last.Bottom() {
		t.Errorf("the panel is %d high, its last lane ends at %d", p.Height, last.Bottom())
	}
}

func TestTicks(t *testing.T) {
	for end, want := range map[time.Duration][]string{
		23 * time.Second:     {"0 s", "2 s", "4 s", "6 s", "8 s", "10 s", "12 s", "14 s", "16 s", "18 s", "20 s", "22 s"},
		3 * time.Millisecond: {"0 s", "0.5 ms", "1 ms", "1.5 ms", "2 ms", "2.5 ms", "3 ms"},
		24 * time.Hour: {"0 s", "10000 s", "20000 s", "30000 s", "40000 s", "50000 s", "60000 s", "70000 s",
			"80000 s"},
		400 * time.Millisecond: {"0 s", "50 ms", "100 ms", "150 ms", "200 ms", "250 ms", "300 ms", "350 ms", "400 ms"},
	} {
		var got []string
		for _, tick := range (scale{end: end, width: chartWidth}).ticks() {
			got = append(got, tick.Text)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("ticks of %v (-want +got):\n%s", end, d)
		}
	}
}

// No edge cuts the text of a mark of the axis.
func TestTheEdgeCutsNoTick(t *testing.T) {
	s := scale{from: 9 * time.Second, end: 14020 * time.Millisecond, width: 560}
	for end := 10 * time.Second; end < 14*time.Second; end += 70 * time.Millisecond {
		s.end = end
		ticks := s.ticks()
		last := ticks[len(ticks)-1]
		at, err := strconv.ParseFloat(last.X, 64)
		if last.Shift != "" && err == nil {
			var shift float64
			shift, err = strconv.ParseFloat(last.Shift, 64)
			at += shift
		}
		if err != nil || at+float64(7*len(last.Text))/2 > float64(s.width) {
			t.Errorf("up to %v: %q at %s leaves a diagram that is %d wide", end, last.Text, last.X, s.width)
		}
	}
}

// The page without scripts draws times between the gutter and the right edge, in whole
// tenths of a pixel.
func TestScale(t *testing.T) {
	s := scale{end: 10 * time.Second, width: chartWidth}
	for at, want := range map[time.Duration]string{0: "64", 5 * time.Second: "603", 10 * time.Second: "1142",
		1234567 * time.Microsecond: "197"} {
		if got := s.At(at); got != want {
			t.Errorf("%v is drawn at %s, want %s", at, got, want)
		}
	}
}
