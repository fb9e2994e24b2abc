package chrome_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/chrome"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// traceFile is a file of trace events as a viewer reads it.
type traceFile struct {
	DisplayTimeUnit string
	OtherData       map[string]string
	TraceEvents     []event
}

type event struct {
	Ph, Cat, Name, S, Bp string
	Pid, Tid, ID         int
	Ts, Dur              json.Number
	Args                 map[string]any
}

// track is the process and the thread of an event.
type track struct{ pid, tid int }

func (e event) line() track { return track{e.Pid, e.Tid} }

// nanos reads microseconds with three decimals.
func nanos(t *testing.T, n json.Number) int64 {
	t.Helper()
	if n == "" {
		return 0
	}
	whole, part, found := strings.Cut(string(n), ".")
	if !found || len(part) != 3 {
		t.Fatalf("the time %q has no three decimals", n)
	}
	var v int64
	if _, err := fmt.Sscan(strings.TrimLeft(whole+part, "0"), &v); err != nil && strings.Trim(whole+part, "0") != "" {
		t.Fatalf("the time %q is no number: %v", n, err)
	}
	return v
}

func (e event) from(t *testing.T) int64 { t.Helper(); return nanos(t, e.Ts) }
func (e event) to(t *testing.T) int64   { t.Helper(); return nanos(t, e.Ts) + nanos(t, e.Dur) }

// floatingFrom and floating are the begin and the end for a viewer that computes with
// floating-point numbers.
func (e event) floatingFrom() float64 { v, _ := e.Ts.Float64(); return v }
func (e event) floating() float64     { v, _ := e.Dur.Float64(); return e.floatingFrom() + v }

func readChrome(t *testing.T, o *outcome.Outcome, opt reports.Options) traceFile {
	t.Helper()
	var b bytes.Buffer
	if err := chrome.Run(&b, o, opt); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	var f traceFile
	if err := dec.Decode(&f); err != nil {
		t.Fatal(err)
	}
	return f
}

// worlds are runs with every kind of trace event: a pause, five nodes, a failover with
// replication, nested entries.
func worlds(t *testing.T) map[string]*outcome.Outcome {
	t.Helper()
	out := map[string]*outcome.Outcome{"by hand": testreports.PausedOutcome()}
	for _, name := range []string{"gc-pause", "redlock-clock-jump", "failover-before-replication", "reentrant-expiry"} {
		sc, err := file.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := redislocks.Find(sc.Lock.Kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None, fence.Claim}})
		if err != nil {
			t.Fatal(err)
		}
		out[name] = o
	}
	return out
}

func TestRun(t *testing.T) {
	for name, o := range worlds(t) {
		t.Run(name, func(t *testing.T) {
			f := readChrome(t, o, reports.Options{Replay: "locksim run x"})
			if f.DisplayTimeUnit != "ms" || f.OtherData["replay"] != "locksim run x" || f.OtherData["lock"] != o.Lock {
				t.Errorf("the head is %q, %v", f.DisplayTimeUnit, f.OtherData)
			}
			checkNames(t, f, o)
			checkTimes(t, f, o)
			checkNesting(t, f)
			checkArrows(t, f)
			checkWhole(t, f, o)
		})
	}
}

// ranModes are the runs that a file has processes for, in order.
func ranModes(o *outcome.Outcome) []outcome.ModeRun {
	return slices.DeleteFunc(slices.Clone(o.Modes), func(m outcome.ModeRun) bool { return m.Trace == nil })
}

// checkNames checks that each process and line has a name, that no two lines of a
// process have the same one, and that each named line has events.
func checkNames(t *testing.T, f traceFile, o *outcome.Outcome) {
	t.Helper()
	processes, lines := map[int]string{}, map[track]string{}
	used := map[track]bool{}
	for _, e := range f.TraceEvents {
		switch {
		case e.Ph == "M" && e.Name == "process_name":
			processes[e.Pid] = e.Args["name"].(string)
		case e.Ph == "M" && e.Name == "thread_name":
			name := e.Args["name"].(string)
			for l, other := range lines {
				if l.pid == e.Pid && other == name {
					t.Errorf("two lines of process %d are called %s", e.Pid, name)
				}
			}
			lines[e.line()] = name
		case e.Ph != "M" && e.S != "p":
			used[e.line()] = true
		}
	}
	for l := range used {
		if lines[l] == "" {
			t.Errorf("line %d of process %d has no name", l.tid, l.pid)
		}
	}
	if len(used) != len(lines) {
		t.Errorf("%d lines have names, and %d have events", len(lines), len(used))
	}
	for i, m := range ranModes(o) {
		if want := fmt.Sprintf("mode %s: %s", m.Mode, m.Verdict.Label); processes[i+1] != want {
			t.Errorf("process %d is called %q, want %q", i+1, processes[i+1], want)
		}
	}
	if len(processes) != len(ranModes(o)) {
		t.Errorf("%d processes, want %d", len(processes), len(ranModes(o)))
	}
}

// checkTimes checks that each event begins, and each slice ends, at the time of its
// step in the trace.
func checkTimes(t *testing.T, f traceFile, o *outcome.Outcome) {
	t.Helper()
	for _, e := range f.TraceEvents {
		if e.Ph != "X" && e.Ph != "i" {
			continue
		}
		events := ranModes(o)[e.Pid-1].Trace.Events
		if at := events[stepOf(t, e, "step")-1].At.Nanoseconds(); at != e.from(t) {
			t.Errorf("%s begins at %d, and its step is at %d", e.Name, e.from(t), at)
		}
		if _, ends := e.Args["until step"]; ends {
			at := events[stepOf(t, e, "until step")-1].At.Nanoseconds()
			if want := max(at, e.from(t)+1); want != e.to(t) {
				t.Errorf("%s ends at %d, and its last step is at %d", e.Name, e.to(t), at)
			}
		}
	}
}

func stepOf(t *testing.T, e event, key string) int {
	t.Helper()
	n, ok := e.Args[key].(float64)
	if !ok || n < 1 {
		t.Fatalf("%s has the %s %v", e.Name, key, e.Args[key])
	}
	return int(n)
}

// checkNesting checks that of any two slices of a line, one is inside the other or
// outside it, also for a viewer that computes with floating-point numbers.
func checkNesting(t *testing.T, f traceFile) {
	t.Helper()
	lines := map[track][]event{}
	for _, e := range f.TraceEvents {
		if e.Ph == "X" {
			if e.to(t) <= e.from(t) {
				t.Errorf("%s takes no time", e.Name)
			}
			lines[e.line()] = append(lines[e.line()], e)
		}
	}
	for _, all := range lines {
		slices.SortStableFunc(all, func(a, b event) int { return int(min(max(a.from(t)-b.from(t), -1), 1)) })
		var open []event
		var last *event
		for _, e := range all {
			for len(open) > 0 && open[len(open)-1].to(t) <= e.from(t) {
				open = open[:len(open)-1]
			}
			if n := len(open); n > 0 && open[n-1].to(t) < e.to(t) {
				t.Errorf("%s and %s overlap on line %v", open[n-1].Name, e.Name, e.line())
			}
			if last != nil && last.to(t) == e.from(t) && last.floating() > e.floatingFrom() {
				t.Errorf("%s and %s seem to overlap on line %v, in floating-point numbers", last.Name, e.Name, e.line())
			}
			last = &e
			open = append(open, e)
		}
	}
}

// checkArrows checks that each arrow starts at the begin of a slice and finishes, not
// earlier, at the begin of another.
func checkArrows(t *testing.T, f traceFile) {
	t.Helper()
	starts, finishes := map[int]event{}, map[int]event{}
	for _, e := range f.TraceEvents {
		list := starts
		switch e.Ph {
		case "f":
			list = finishes
		case "s":
		default:
			continue
		}
		if _, twice := list[e.ID]; twice {
			t.Errorf("arrow %d has two ends %q", e.ID, e.Ph)
		}
		list[e.ID] = e
	}
	if len(starts) == 0 || len(starts) != len(finishes) {
		t.Errorf("%d arrows start and %d finish", len(starts), len(finishes))
	}
	begin := map[track]map[int64]bool{}
	for _, e := range f.TraceEvents {
		if e.Ph != "X" {
			continue
		}
		if begin[e.line()] == nil {
			begin[e.line()] = map[int64]bool{}
		}
		begin[e.line()][e.from(t)] = true
	}
	for id, s := range starts {
		e := finishes[id]
		if !begin[s.line()][s.from(t)] || !begin[e.line()][e.from(t)] {
			t.Errorf("arrow %d does not lead from one slice to another", id)
		}
		if e.from(t) < s.from(t) || e.Pid != s.Pid || e.Bp != "e" {
			t.Errorf("arrow %d goes back in time, or into another process: %+v %+v", id, s, e)
		}
	}
}

// checkWhole checks that each message, each command of a node and each grant of the
// trace is in the file once.
func checkWhole(t *testing.T, f traceFile, o *outcome.Outcome) {
	t.Helper()
	for i, m := range ranModes(o) {
		got, want := map[string]int{}, map[string]int{"claim": len(m.History.Grants), "belief": len(m.History.Grants),
			"record": len(m.History.Holdings)}
		for _, e := range m.Trace.Events {
			if e.Actor != "probe" && e.Peer != "probe" {
				want[e.Kind()]++
			}
		}
		for _, e := range f.TraceEvents {
			if e.Pid == i+1 && e.Ph == "X" {
				got[e.Cat]++
			}
		}
		got["send"] = got["request"] + got["answer"]
		for _, kind := range []string{"send", "recv", "exec", "store", "claim", "belief", "record"} {
			if got[kind] != want[kind] {
				t.Errorf("mode %s: %d of %d of the kind %s", m.Mode, got[kind], want[kind], kind)
			}
		}
	}
}

// The decisive step is marked through the whole process.
func TestRunMarksTheDecision(t *testing.T) {
	var got []string
	for _, e := range readChrome(t, testreports.PausedOutcome(), reports.Options{}).TraceEvents {
		if e.Cat == "decision" {
			got = append(got, fmt.Sprint(e.Pid, e.Ph, e.S, e.Ts, e.Name, e.Args["step"]))
		}
	}
	if want := []string{"1ip20000000.000it broke here20", "2ip20000000.000the fence held here20"}; !slices.Equal(got,
		want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A message that never arrived has no arrow.
func TestRunLosesMessages(t *testing.T) {
	lost := 0
	for _, e := range readChrome(t, testreports.PausedOutcome(), reports.Options{}).TraceEvents {
		if e.Args["lost"] == true {
			lost++
		}
	}
	if lost == 0 {
		t.Error("the PING that was not answered is not marked as lost")
	}
}

func TestRunOfNothing(t *testing.T) {
	if f := readChrome(t, testreports.Outcome(testreports.NotApplicable(fence.Seal)),
		reports.Options{}); len(f.TraceEvents) > 0 {
		t.Errorf("a mode that was not run has events: %v", f.TraceEvents)
	}
}

func TestRunIsPure(t *testing.T) {
	o := testreports.PausedOutcome()
	var first, second bytes.Buffer
	if err := errors.Join(chrome.Run(&first, o, reports.Options{}),
		chrome.Run(&second, o, reports.Options{})); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Error("two files of one outcome differ")
	}
	if err := chrome.Run(testreports.FullDisk{}, o, reports.Options{}); !errors.Is(err, testreports.ErrDiskFull) {
		t.Errorf("got %v", err)
	}
}
