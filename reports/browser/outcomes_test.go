package browser

import (
	"bytes"
	"strings"
	"testing"

	"locksim/internal/tainted"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios/cause"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// played is a run of a scenario of the library with a lock of locksim.
func played(t *testing.T, name, lock string, modes ...fence.Mode) *outcome.Outcome {
	t.Helper()
	sc, err := file.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return playedScenario(t, sc, lock, modes...)
}

func playedScenario(t *testing.T, sc *file.Scenario, lock string, modes ...fence.Mode) *outcome.Outcome {
	t.Helper()
	l, err := redislocks.Find(lock, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: modes, Repeat: outcome.Once})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// once is a function whose value is made when the first test needs it. Tests do not run in parallel here.
func once[T any](f func(*testing.T) T) func(*testing.T) T {
	var made bool
	var v T
	return func(t *testing.T) T {
		t.Helper()
		if !made {
			v, made = f(t), true
		}
		return v
	}
}

// pages are the pages that rendered has made.
var pages = map[*outcome.Outcome][]byte{}

// rendered is the page of an outcome, with every option. It is made once.
func rendered(t *testing.T, o *outcome.Outcome) []byte {
	t.Helper()
	if page, ok := pages[o]; ok {
		return page
	}
	l, err := redislocks.Find(o.Lock, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = html.Run(&b, o, reports.Options{
		Replay:   "locksim run " + o.Scenario.Name + " --lock " + o.Lock + " --seed 1",
		Versions: []reports.Version{{Name: "Go", Version: "1.26"}},
		Inspect: func(mode fence.Mode, step int) (*outcome.State, error) {
			return play.Inspect(o.Scenario, l, o.Seed, mode, step)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	pages[o] = b.Bytes()
	return pages[o]
}

// run is a run of the library that all tests share: they do not change it.
func run(name, lock string, modes ...fence.Mode) func(*testing.T) *outcome.Outcome {
	return once(func(t *testing.T) *outcome.Outcome {
		t.Helper()
		return played(t, name, lock, modes...)
	})
}

var (
	gcPause = once(func(t *testing.T) *outcome.Outcome {
		t.Helper()
		o := played(t, "gc-pause", "fenced", fence.None, fence.Check, fence.Seal)
		explain(t, o)
		return o
	})
	redlockFailure = run("redlock-clock-jump", "redlock", fence.None, fence.Claim, fence.Seal)
)

// explain adds to an outcome when its violation became inevitable, from few continuations.
func explain(t *testing.T, o *outcome.Outcome) {
	t.Helper()
	l, err := redislocks.Find(o.Lock, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.Cause, err = cause.Find(o, cause.Options{Continuations: 20, Steps: 4}, cause.Here(o.Scenario, l)); err != nil ||
		o.Cause == nil {
		t.Fatal("no curve", err)
	}
}

// subjects are the runs whose pages are tested.
var subjects = map[string]func(*testing.T) *outcome.Outcome{
	"gc-pause": gcPause,
	"redlock":  redlockFailure,
	"failover": run("split-brain", "fenced", fence.None, fence.Seal, fence.Strict),
	"calm":     run("calm", "fenced", fence.None),
}

// hostile is a run with markup in every text of its scenario and events.
func hostile(t *testing.T) *outcome.Outcome {
	t.Helper()
	o := played(t, "gc-pause", "fenced", fence.None, fence.Check, fence.Seal) // its own, since it is changed
	sc := *o.Scenario
	sc.Name = markup
	sc.Title = markup
	sc.Why = markup + strings.Repeat(" long", 40)
	sc.Source = []byte("name: " + markup + "\n# </pre></script><img src=x onerror=alert(2)>\n")
	o.Scenario = &sc
	for i := range o.Modes {
		for j := range o.Modes[i].Trace.Events {
			e := &o.Modes[i].Trace.Events[j]
			e.What = tainted.What(e.What, " "+markup)
		}
		for j := range o.Modes[i].Story {
			o.Modes[i].Story[j] = tainted.Line(o.Modes[i].Story[j], " "+markup)
		}
	}
	return o
}

const markup = `<script>alert(1)</script>`

// bare is the page of an outcome without Inspect.
func bare(t *testing.T, o *outcome.Outcome) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := html.Run(&b, o, reports.Options{Replay: "locksim run " + o.Scenario.Name}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
