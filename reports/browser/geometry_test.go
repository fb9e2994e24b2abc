package browser

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// box is the position of a drawn element, in pixels of the window.
type box struct {
	N, M                     int
	Class, Lane              string
	Left, Right, Top, Bottom float64
	Shown                    bool
}

// chart is a diagram as the browser has drawn it.
type chart struct {
	From, To float64 // the window of time, in nanoseconds
	Lanes    map[string]box
	Items    []box
}

// drawn reads the positions of the diagram of a mode from the browser.
func drawn(tb *tab, mode string) chart {
	return eval[chart](tb, `(() => {
		const panel = document.querySelector('.panel[data-mode="`+mode+`"]'), charts = document.getElementById("charts");
		const box = (el) => { const r = el.getBoundingClientRect(), d = el.dataset;
			return {N: +d.n || 0, M: +d.m || 0, Class: el.getAttribute("class") || "", Lane: d.lane || "",
				Left: r.left, Right: r.right, Top: r.top, Bottom: r.bottom, Shown: el.style.display !== "none"}; };
		const names = [...panel.querySelectorAll(".names text")].map((t) => t.firstChild.textContent);
		const lanes = {};
		[...panel.querySelectorAll("rect.lane")].forEach((r, i) => { lanes[names[i]] = box(r); });
		return {From: +charts.dataset.from, To: +charts.dataset.to, Lanes: lanes,
			Items: [...panel.querySelectorAll("rect[data-n], line[data-n]")].map(box)};
	})()`)
}

// find is the element of a class on a lane that matches.
func (c chart) find(t *testing.T, class, lane string, match func(box) bool) box {
	t.Helper()
	for _, b := range c.Items {
		if strings.HasPrefix(b.Class+" ", class+" ") && b.Lane == lane && match(b) {
			return b
		}
	}
	t.Fatalf("nothing of class %q is drawn on %s", class, lane)
	return box{}
}

// x is the position at which a time must be drawn.
func (c chart) x(at time.Duration) float64 {
	plot := c.Lanes["s0"]
	return plot.Left + (float64(at)-c.From)/(c.To-c.From)*(plot.Right-plot.Left)
}

// spans checks that a box begins and ends at two times. It tolerates half a pixel for
// rounding, and one pixel for the least width of a bar.
func (c chart) spans(t *testing.T, what string, b box, from, to time.Duration) {
	t.Helper()
	if float64(to) < c.From || float64(from) > c.To {
		if b.Shown {
			t.Errorf("%s is outside the window of time and is drawn", what)
		}
		return
	}
	if left, right := c.x(from), c.x(to); math.Abs(b.Left-left) > 0.6 || math.Abs(b.Right-right) > 1.1 {
		t.Errorf("%s is drawn from %.1f to %.1f, want %.1f to %.1f", what, b.Left, b.Right, left, right)
	}
}

// within checks that a height is on a lane.
func (c chart) within(t *testing.T, what string, y float64, lane string) {
	t.Helper()
	if l := c.Lanes[lane]; y < l.Top-0.5 || y > l.Bottom+0.5 {
		t.Errorf("%s is drawn at height %.1f, and lane %s is from %.1f to %.1f", what, y, lane, l.Top, l.Bottom)
	}
}

// compareDiagrams checks that bars, bands and arrows are drawn at the times of the trace, in a window of it.
func compareDiagrams(tb *tab, o *outcome.Outcome, window string) {
	tb.t.Helper()
	for _, m := range panels(o) {
		tb.check(fmt.Sprintf("diagram of %s, %s", m.Mode, window), func() {
			c := drawn(tb, string(m.Mode))
			compareGrants(tb.t, c, m)
			compareFaults(tb.t, c, m)
			compareOps(tb.t, c, m)
		})
	}
}

// panels are the runs that have a diagram: of equal ones, the first.
func panels(o *outcome.Outcome) []outcome.ModeRun {
	var out []outcome.ModeRun
	for _, s := range scene.Merged(scene.All(o)) {
		out = append(out, *s.Run)
	}
	return out
}

// end is the end of the time axis of a run: the time of the last event other than those
// of the probe.
func end(m outcome.ModeRun) time.Duration {
	var last time.Duration
	for _, e := range m.Trace.Events {
		if e.Actor != "probe" && e.Peer != "probe" {
			last = max(last, e.At)
		}
	}
	return last
}

func compareGrants(t *testing.T, c chart, m outcome.ModeRun) {
	at := func(p checker.Pos) time.Duration {
		if p == 0 {
			return end(m)
		}
		return m.Trace.Events[p-1].At
	}
	for _, g := range m.History.Grants {
		for class, i := range map[string]checker.Interval{"bar claim": g.Claim(), "bar belief": g.Belief(m.History.Care)} {
			b := c.find(t, class, g.Client, func(b box) bool { return b.N == int(i.Start) })
			what := fmt.Sprintf("%s of %s at step %d", class, g.Client, g.Granted)
			c.spans(t, what, b, at(i.Start), at(i.End))
			if b.Shown {
				c.within(t, what, b.Top, g.Client)
				c.within(t, what, b.Bottom, g.Client)
			}
		}
	}
}

// compareFaults compares the faults of the subjects: pauses and partitions.
func compareFaults(t *testing.T, c chart, m outcome.ModeRun) {
	ends := map[string]string{"pause": "resume", "cut": "heal"}
	faults := 0
	for i, e := range m.Trace.Events {
		if ends[e.Kind()] == "" {
			continue
		}
		faults++
		to := end(m)
		for _, later := range m.Trace.Events[i:] {
			if later.Kind() == ends[e.Kind()] && later.Peer == e.Peer {
				to = later.At
				break
			}
		}
		for _, class := range []string{"strip", "tint"} {
			b := c.find(t, class, e.Peer, func(b box) bool { return b.N == e.N })
			c.spans(t, e.Kind()+" as "+class, b, e.At, min(to, end(m)))
		}
	}
	if faults == 0 {
		t.Error("no pause or partition was compared")
	}
}

// compareOps compares the arrow of each operation from its client to the store.
func compareOps(t *testing.T, c chart, m outcome.ModeRun) {
	for _, op := range m.History.Ops {
		if op.Applied == 0 {
			continue
		}
		b := c.find(t, "m", op.Client+">s0", func(b box) bool { return b.M == int(op.Applied) })
		sent := m.Trace.Events[b.N-1]
		if !strings.Contains(sent.Text(), " "+op.ID+" ") {
			t.Fatalf("the arrow of %s begins with %v", op.ID, sent)
		}
		what := "the arrow of " + op.ID
		c.spans(t, what, b, sent.At, m.Trace.Events[op.Applied-1].At)
		if b.Shown {
			c.within(t, what, b.Top, op.Client)
			c.within(t, what, b.Bottom, "s0")
		}
	}
}
