package outcome

import (
	"fmt"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/causes"
	"locksim/sim/rare"
	"locksim/sim/trace"
)

// Outcome is the result of one scenario, with one lock and one seed, under each
// fencing mode that was asked for.
type Outcome struct {
	Scenario *file.Scenario
	// Lock is the name of the lock that ran.
	Lock string
	Seed uint64
	// Promise is the promise by which the lock is judged; nil if it is not known, or the lock promises nothing.
	Promise *promise.Promise
	// Own is what the lock promises by itself, where Promise is what was asked of it: whether claims overlap, under every
	// fault. It is nil where Promise is its own.
	Own *promise.Promise
	// Modes are the runs, in the order in which they were asked for.
	Modes []ModeRun
	// Base is the run in mode none, against which a rescue is measured, where Modes does not have it; nil if there was
	// none.
	Base *ModeRun
	// Live says how the runs were made on real servers; nil for runs in the simulated world. The seed of a live run
	// decides only what its workload draws.
	Live *Live
	// Death says how the program ends in the run, of which the rest is missing; nil for a run that ends by itself.
	Death *Death
	// Cause says when the violation of the run became inevitable; nil if that was not asked, or the run has none.
	Cause *causes.Curve
}

// Live is how a scenario was played on real servers.
type Live struct {
	// Scale is by what its durations were multiplied. Those of [Outcome.Scenario] are multiplied already.
	Scale float64
	// Differences are the modes in which live runs had a label that no simulated run has. They are about all live runs
	// that were made together, of which this one is the worst.
	Differences []Difference
	// Uncompared says why the labels were not compared with those of simulated runs; "" if they were.
	Uncompared string
}

// Difference is a mode in which live runs had a label that no run of the simulated world has, a harsher or a milder
// one.
type Difference struct {
	// Mode is the mode.
	Mode fence.Mode `json:"mode"`
	// Live counts the live runs by label.
	Live map[checker.Label]int `json:"live"`
	// Simulated counts the simulated runs by label, one for each seed from 1 on.
	Simulated map[checker.Label]int `json:"simulated"`
	// Why says why the worlds differ. It is absent if nothing explains it: the outcome is not as expected then.
	Why string `json:"why,omitempty"`
	// Reason is the first reason of the verdict of the first live run whose label is no simulated one.
	Reason string `json:"reason,omitempty"`
}

// String says what was seen in either world.
func (d Difference) String() string {
	var odd []string
	runs, seeds := 0, 0
	for _, l := range checker.Labels() {
		if runs += d.Live[l]; d.Live[l] > 0 && d.Simulated[l] == 0 {
			odd = append(odd, fmt.Sprintf("%s in %d", l, d.Live[l]))
		}
		seeds += d.Simulated[l]
	}
	return fmt.Sprintf("mode %s is %s of %s, and never in the simulated world (%s: %s)",
		d.Mode, strings.Join(odd, " and "), prose.Count(runs, "live run"), prose.Count(seeds, "seed"), Labels(d.Simulated))
}

// Labels are counts of labels in words: "rescued" if all are the same, else "rescued 15, safe 5", the worst first.
func Labels(of map[checker.Label]int) string {
	var all []checker.Label
	var out []string
	for _, l := range checker.Labels() {
		if of[l] > 0 {
			all, out = append(all, l), append(out, fmt.Sprintf("%s %d", l, of[l]))
		}
	}
	if len(all) == 1 {
		return string(all[0])
	}
	return strings.Join(out, ", ")
}

// NotApplicable is the run of a mode that needs tokens, with a lock that mints none.
func NotApplicable(mode fence.Mode) *ModeRun {
	return &ModeRun{Mode: mode, Verdict: checker.Verdict{Label: checker.NotApplicable}}
}

// ModeRun is one run: the same seed and schedule under one fencing mode.
type ModeRun struct {
	Mode fence.Mode
	// Verdict is the label with its facts and reasons. The label is n/a, and
	// nothing else is set, when the mode needs tokens and the lock mints none.
	Verdict checker.Verdict
	// Corroboration is the result of porcupine's independent check. It is zero if [ModeRun.Corroborate] was not called.
	Corroboration checker.Corroboration
	// Trace is what the world did.
	Trace *trace.Trace
	// TraceHash is the hash of Trace. It is "" if [ModeRun.Complete] was not called, as in a search.
	TraceHash string
	// History is what the clients saw.
	History checker.History
	// Record is what the driver has seen, of which History was made by Terms, what the lock is judged by. It is nil for a
	// run whose record is not known.
	Record *evidence.Record
	Terms  evidence.Terms
	// KeyChanges are the changes of the lock's keys on the servers, which no client can see, in order. It is empty for a
	// lock whose keys are unknown.
	KeyChanges []trace.KeyChange
	// Events counts the events of the trace, each of which is a step of the run;
	// Virtual is the virtual time.
	Events  int
	Virtual time.Duration
	// FaultsFired says, for each fault of the scenario, whether it struck.
	FaultsFired []bool
	// NotPlayed says, for each fault of the scenario, why the world could not play it; "" for one that it could, or that
	// did not strike. The simulated world can play all.
	NotPlayed []string
	// FaultsFelt says, for each fault, whether it had a consequence before the
	// workload ended: see [locksim/scenarios/play.Stage.Faults].
	FaultsFelt []bool
	// LongestWait is the longest time from an Acquire to its grant.
	LongestWait time.Duration
	// Unknown is what servers did not know of what the lock asked for, such as a command, each once, in order: the run
	// says nothing about a lock that needs it.
	Unknown []string
	// PartialPause says that the lock acted during a pause, through its own timers,
	// which no seam holds. The absence of violations under pauses is then no
	// evidence.
	PartialPause bool
	// Barred says that the lone client that asks for the lock in the end, the
	// "probe" of the trace, never got it.
	Barred bool
	// Hung says that a client waited or looped for ever, although the network was whole.
	Hung bool
	// Story is the run in words. It is empty if [ModeRun.Complete] was not called, as in a search.
	Story []Line
	// Wall is the time of the run on the wall clock. It differs from run to run and
	// is never compared.
	Wall time.Duration

	// Late is the longest time by which the machine was late in a live run: it had other work to do. Above
	// [file.Scenario.LateLimit] the run shows what a busy machine does, besides the faults of the scenario. 0 in the
	// simulated world.
	Late time.Duration

	// Rare are the rare paths of the simulated world that the run has reached.
	Rare rare.Set

	// WallClocks are the clients that have read their wall clocks.
	WallClocks []string
}

// Line is one step of a story.
type Line struct {
	// N is the number of the event in the trace.
	N  int
	At time.Duration
	// Actor is the process or server that acted: c0, r0, s0, or "world" for a fault.
	Actor string
	// What is what happened, Remark what it means for the run, if anything; Text is
	// both.
	What, Remark string
	Text         string
	// Fatal marks the step that decided the verdict.
	Fatal bool
	// Shared marks a grant at which another client had the lock already, or believed
	// that it had it.
	Shared bool
	// Decides marks a line without which the decisive step is not understood: what became of a key of the lock, a fault,
	// and the grants and releases of those that have the lock at that step or believe so, from the first of these grants
	// on. A report that shortens the story keeps it.
	Decides bool
}

// Mismatch is a mode that is not as expected: its label is worse than the scenario expects, or live runs differ from
// simulated ones.
type Mismatch struct {
	Mode      fence.Mode
	Got, Want checker.Label
	// Differs is the difference, without an explanation, of live runs from simulated ones; else nil, and Got is worse than
	// Want.
	Differs *Difference
}

// String is the mismatch as a sentence.
func (m Mismatch) String() string {
	if m.Differs != nil {
		return m.Differs.String() + ": give a larger --scale, or the machine less to do; if it stays so, one of the two " +
			"worlds is wrong: report it"
	}
	text := fmt.Sprintf("mode %s is %s, and %s was expected", m.Mode, m.Got, m.Want)
	if m.Got == checker.Untested && m.Want == checker.Safe {
		text += fmt.Sprintf(": what was called %s is called %s now where no client was ever granted the lock: expect %[2]s "+
			"if that is meant", m.Want, m.Got)
	}
	return text
}

// Mismatches are the modes whose label is worse than the scenario expects for this lock, and the differences of live
// runs that nothing explains. An expectation is about the worst seed: one seed may do better.
func (o *Outcome) Mismatches() []Mismatch {
	var out []Mismatch
	for _, m := range o.Modes {
		want, ok := o.Scenario.Expect[o.Lock][m.Mode]
		if ok && m.Verdict.Label.Severity() > want.Severity() {
			out = append(out, Mismatch{Mode: m.Mode, Got: m.Verdict.Label, Want: want})
		}
	}
	if o.Live == nil {
		return out
	}
	for i, d := range o.Live.Differences {
		if d.Why == "" {
			out = append(out, Mismatch{Mode: d.Mode, Differs: &o.Live.Differences[i]})
		}
	}
	return out
}

// Expected is the label that the scenario expects of this lock in a mode; ok is
// false if it expects none.
func (o *Outcome) Expected(mode fence.Mode) (label checker.Label, ok bool) {
	label, ok = o.Scenario.Expect[o.Lock][mode]
	return label, ok
}

// NeverFired are the indices of the faults that struck in none of the runs, although the world can play them, and
// chance was not to decide whether they strike.
func (o *Outcome) NeverFired() []int {
	fired := make([]bool, len(o.Scenario.Faults))
	ran := false
	for _, m := range o.Modes {
		ran = ran || m.Trace != nil
		for i, f := range m.FaultsFired {
			fired[i] = fired[i] || f || m.NotPlayed[i] != ""
		}
	}
	var never []int
	for i, f := range fired {
		if ran && !f && o.Scenario.Faults[i].Probability == 0 {
			never = append(never, i)
		}
	}
	return never
}

// Repeat says whether runs are checked for being deterministic.
type Repeat int

const (
	// Once runs each mode once.
	Once Repeat = iota
	// Twice runs each mode twice and compares the traces. A difference is a
	// [*locksim/scenarios/play.NondeterminismError], never a verdict.
	Twice
)
