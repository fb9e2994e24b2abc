package testleaders

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/causes"
	"locksim/scenarios/outcome/tunings"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// Trial is what the played runs of a trouble need to know of an election.
type Trial struct {
	// Lock is the election.
	Lock subject.Lock
	// World has the servers of the scenario, such as "etcd: 3". Servers are the processes that an outage stops.
	World   string
	Servers []string
	// TTL is that of the scenario.
	TTL time.Duration
	// Apart is how long after a renewal the next one comes: a trouble begins at an instant of such a time.
	Apart time.Duration
	// Within is by how much the seconds of a run may differ from those that were computed: what requests take.
	Within time.Duration
}

// Seen is what the runs of a trouble show.
type Seen struct {
	// Runs counts them, Lost those in which the leader was lost.
	Runs, Lost int
	// Two and None are for how long two clients led, and none, in the runs in which the leader was lost.
	Two, None tunings.Span
}

// Text is what was seen in a row of a table: how many leaders were lost, for how long two led, and none.
func (s Seen) Text() string {
	if s.Lost == 0 {
		return fmt.Sprintf("0 of %d", s.Runs)
	}
	seconds := func(s tunings.Span) string {
		if s.Most < .05 {
			return "no time"
		}
		return fmt.Sprintf("%.1f to %.1f s", s.Least, s.Most)
	}
	return fmt.Sprintf("%d of %d · %s · %s", s.Lost, s.Runs, seconds(s.Two), seconds(s.None))
}

// Agrees plays so many runs of a trouble, and reports an error where they contradict what was computed: the share of
// lost leaders lies outside of the interval of 99.9 %, or a run has more or fewer seconds with two leaders, or with
// none.
func (of Trial) Agrees(t *testing.T, computed tunings.Trouble, runs int) Seen {
	t.Helper()
	seen := Seen{Runs: runs}
	for seed := uint64(1); seed <= uint64(runs); seed++ {
		draw := rand.New(rand.NewPCG(seed, 61))
		begins := (4*of.Apart + time.Duration(draw.Float64()*float64(of.Apart))).Round(time.Millisecond)
		text := of.scenario(computed, begins)
		sc, err := scenarios.Parse("trouble.yaml", []byte(text), of.Lock)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		o, err := play.Run(sc, of.Lock, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true})
		if err != nil {
			t.Fatalf("%s, seed %d: %v", of.Lock.Name, seed, err)
		}
		two, none, lost := happened(&o.Modes[0], computed, begins)
		if !lost {
			continue
		}
		one := tunings.Span{Least: two.Seconds(), Most: two.Seconds()}
		other := tunings.Span{Least: none.Seconds(), Most: none.Seconds()}
		if seen.Lost++; seen.Lost == 1 {
			seen.Two, seen.None = one, other
		}
		seen.Two = tunings.Span{Least: min(seen.Two.Least, one.Least), Most: max(seen.Two.Most, one.Most)}
		seen.None = tunings.Span{Least: min(seen.None.Least, other.Least), Most: max(seen.None.Most, other.Most)}
	}
	low, high := causes.Wilson(float64(seen.Lost)/float64(runs), runs, causes.Z999)
	of.log(t, computed, seen)
	switch {
	case high < computed.Lost.Least || low > computed.Lost.Most:
		t.Errorf("%s, %s of %v s: %d of %d leaders were lost, computed %+v", of.Lock.Name, computed.Kind, computed.Seconds,
			seen.Lost, runs, computed.Lost)
	case seen.Lost > 0 && (!of.in(seen.Two, computed.TwoSeconds) || !of.in(seen.None, computed.NoneSeconds)):
		t.Errorf("%s, %s of %v s: two led for %+v, none for %+v, computed %+v and %+v", of.Lock.Name, computed.Kind,
			computed.Seconds, seen.Two, seen.None, computed.TwoSeconds, computed.NoneSeconds)
	}
	return seen
}

func (of Trial) log(t *testing.T, computed tunings.Trouble, seen Seen) {
	t.Helper()
	t.Logf("%s, %s of %v s: %d of %d lost (computed %.3g to %.3g), two %.2f to %.2f s (%.2f to %.2f), none %.2f to %.2f "+
		"s (%.2f to %.2f)", of.Lock.Name, computed.Kind, computed.Seconds, seen.Lost, seen.Runs, computed.Lost.Least,
		computed.Lost.Most, seen.Two.Least, seen.Two.Most, computed.TwoSeconds.Least, computed.TwoSeconds.Most,
		seen.None.Least, seen.None.Most, computed.NoneSeconds.Least, computed.NoneSeconds.Most)
}

func (of Trial) in(seen, computed tunings.Span) bool {
	return seen.Least >= computed.Least-of.Within.Seconds() && seen.Most <= computed.Most+of.Within.Seconds()
}

// scenario is the run of a trouble that begins at one instant: one client leads, and another one campaigns.
func (of Trial) scenario(trouble tunings.Trouble, begins time.Duration) string {
	var b strings.Builder
	lasts := time.Duration(trouble.Seconds * float64(time.Second))
	whole := begins + lasts + time.Duration(trouble.NoneSeconds.Most*float64(time.Second)) + 2*of.Apart + time.Minute
	const ticks = 100
	fmt.Fprintf(&b, "name: trouble\nworld: {%s, clients: 2, latency: 1ms..5ms}\nlock: {kind: %s, ttl: %v}\n", of.World,
		of.Lock.Name, of.TTL)
	fmt.Fprintf(&b, "workload: {kind: leader, ticks: %d, hold: %v, stagger: 100ms, checks_until: lost}\nfaults:\n", ticks,
		(whole / ticks).Round(time.Millisecond))
	switch trouble.Kind {
	case tunings.Outage:
		for _, s := range of.Servers {
			fmt.Fprintf(&b, "  - {at: %v, crash: {process: %s, mode: process}}\n", begins, s)
		}
		for _, s := range of.Servers {
			fmt.Fprintf(&b, "  - {at: %v, restart: {process: %s}}\n", begins+lasts, s)
		}
	case tunings.Pause:
		fmt.Fprintf(&b, "  - {at: %v, pause: {process: %s, for: %v}}\n", begins, first, lasts)
	case tunings.Crash:
		fmt.Fprintf(&b, "  - {at: %v, crash: {process: %s}}\n", begins, first)
	}
	return b.String()
}

// first is the client that leads first.
const first = "c0"

// happened is for how long two clients led, and none, in a run whose trouble began at one instant, and whether the
// leader was lost.
func happened(m *outcome.ModeRun, trouble tunings.Trouble, begins time.Duration) (two, none time.Duration, lost bool) {
	at := func(p checker.Pos) time.Duration { return m.Trace.Events[p-1].At }
	var old, next *checker.Grant
	for i, g := range m.History.Grants {
		switch {
		case g.Client == first && old == nil:
			old = &m.History.Grants[i]
		case g.Client != first && next == nil:
			next = &m.History.Grants[i]
		}
	}
	if trouble.Kind == tunings.Crash {
		return 0, at(next.Granted) - begins, true
	}
	if old.Lost == 0 || old.Released != 0 && old.Released < old.Lost { // it resigned
		return 0, 0, false
	}
	stops, elected := at(old.Lost), at(next.Granted)
	acts := begins + time.Duration(trouble.Seconds*float64(time.Second)) // of a leader that stood still, at the earliest
	if trouble.Kind == tunings.Pause {
		return max(stops-max(elected, acts), 0), elected - begins, true
	}
	return max(stops-elected, 0), max(elected-stops, 0), true
}
