package browser

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// crowded is a run of many rounds with a pause.
func crowded(t *testing.T, clients, rounds int, modes ...fence.Mode) *outcome.Outcome {
	t.Helper()
	sc, err := file.Parse("crowded.yaml", []byte(fmt.Sprintf(`
name: crowded
title: Many clients and many rounds
world: {redis: 1, clients: %d, latency: 1ms..5ms}
lock: {kind: fenced, ttl: 2s, backoff: 50ms..200ms}
workload: {rounds: %d, hold: 100ms, think: 100ms}
faults:
  - when: {client: c0, event: read, nth: 3}
    pause: {process: c0, for: 4s}
`, clients, rounds)))
	if err != nil {
		t.Fatal(err)
	}
	return playedScenario(t, sc, "fenced", modes...)
}

// ready is the processor time of the thread of the page until it is ready, in milliseconds: the first of three
// openings that is within the limit, or else the best. Processor time does not depend on the other load of the
// machine.
func ready(t *testing.T, html []byte, limit float64) float64 {
	t.Helper()
	address := onDisk(t, html)
	best := math.Inf(1)
	for i := 0; i < 3 && best > limit; i++ {
		best = min(best, readyOnce(t, address))
	}
	return best
}

// readyOnce opens a page in a tab of its own, which has done no other work.
func readyOnce(t *testing.T, address string) float64 {
	t.Helper()
	ctx, closeTab := newTab(t)
	defer closeTab()
	tb := load(t, ctx, address, desktop)
	found, err := chromedp.Call(tb.Context, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	tb.checkQuiet()
	for _, m := range found.Metrics {
		if m.Name == "TaskDuration" && m.Value > 0 {
			return m.Value * 1000
		}
	}
	t.Fatal("the browser does not count its work")
	return 0
}

// A page of three runs of 2,000 events is under 2 MB, and is ready after less than a
// second of processor time.
func TestTwoThousandEvents(t *testing.T) {
	o := crowded(t, 3, 22, fence.None, fence.Check, fence.Seal)
	for _, m := range o.Modes {
		if n := m.Trace.Len(); n < 2000 || n > 4000 {
			t.Fatalf("the run in mode %s has %d events, want a little more than 2,000", m.Mode, n)
		}
	}
	html := rendered(t, o)
	took := ready(t, html, 1000)
	t.Logf("%d events in each of %d modes: %d bytes, ready after %.0f ms of work", o.Modes[0].Trace.Len(), len(o.Modes),
		len(html), took)
	if len(html) > 2_000_000 {
		t.Errorf("the page has %d bytes", len(html))
	}
	if took > 1000 {
		t.Errorf("the page is ready after %.0f ms of work", took)
	}
}

// The page of a run of 100,000 events shows a part with a notice, and its controls
// work.
func TestHundredThousandEvents(t *testing.T) {
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		t.Skip("it takes ten seconds: LOCKSIM_SOAK=1 has it")
	}
	o := crowded(t, 12, 135, fence.None)
	if n := o.Modes[0].Trace.Len(); n < 100_000 {
		t.Fatalf("the run has %d events, want 100,000", n)
	}
	html := bare(t, o)
	took := ready(t, html, 1000)
	t.Logf("%d events: %d bytes, ready after %.0f ms of work", o.Modes[0].Trace.Len(), len(html), took)
	if len(html) > 4_000_000 {
		t.Errorf("the page has %d bytes", len(html))
	}
	tb := open(t, html, desktop)
	notice := eval[string](tb, `document.querySelector(".cut").textContent`)
	if want := fmt.Sprintf("%d events", o.Modes[0].Trace.Len()); !strings.Contains(notice, want) {
		t.Errorf("the notice says %q, want %q in it", notice, want)
	}
	tb.click(`[data-do=jump]`)
	step := fatalLine(t, o.Modes[0])
	if c := drawn(tb, "none"); float64(step.At) < c.From || float64(step.At) > c.To {
		t.Errorf("the decisive step at %v is not in the window %v to %v", step.At, c.From, c.To)
	}
	if n := eval[int](tb, `document.querySelectorAll('line[data-m="`+fmt.Sprint(step.N)+`"]').length`); n != 1 {
		t.Errorf("the arrow of the decisive step is drawn %d times", n)
	}
	tb.checkQuiet()
}
