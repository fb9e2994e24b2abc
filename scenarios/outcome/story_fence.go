package outcome

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/sim/trace"
)

// This file tells the story of a run whose store is under test: the operations with their tokens and answers, and the
// requests between which it gave the wrong answer.

// fenceTeller tells what the clients ask such a store, and what it answers.
type fenceTeller struct {
	run     *ModeRun
	ops     map[string]checker.Op
	told    map[int]bool // the requests, by their steps
	several bool         // resources
}

// maxRequests bounds the requests that a story tells.
const maxRequests = 40

// newFenceTeller returns nil for a run whose store is right.
func newFenceTeller(run *ModeRun) *fenceTeller {
	if run.History.Fence == "" {
		return nil
	}
	t := &fenceTeller{run: run, ops: map[string]checker.Op{}, told: map[int]bool{},
		several: len(resourcesOf(run)) > 1}
	for _, o := range run.History.Ops {
		t.ops[o.ID] = o
	}
	requests := t.requests()
	for _, n := range requests[max(0, len(requests)-maxRequests):] {
		t.told[n] = true
	}
	return t
}

// wrongAnswer is the step at which such a store gave the answer that decides, 0 for none.
func wrongAnswer(run *ModeRun) int {
	label, reasons := run.Verdict.Label, run.Verdict.Reasons
	if run.History.Fence == "" || label != checker.Corrupted && label != checker.FalseReject || len(reasons) == 0 ||
		len(reasons[0].At) == 0 {
		return 0
	}
	return int(slices.Max(reasons[0].At))
}

// Answered are the steps between which a store under test gave the answer that decides: from the call of the first
// operation of which the finding speaks up to that answer. Both are 0 where there is none.
func (m *ModeRun) Answered() (first, last checker.Pos) {
	last = checker.Pos(wrongAnswer(m))
	first = last
	if last == 0 {
		return 0, 0
	}
	at := m.Verdict.Reasons[0].At
	for _, o := range m.History.Ops {
		if o.Returned > 0 && slices.Contains(at, o.Returned) || slices.Contains(at, o.Invoked) {
			first = min(first, o.Invoked)
		}
	}
	return first, last
}

// requests are the steps at which servers carried out requests of operations, in the time of [ModeRun.Answered].
func (t *fenceTeller) requests() (all []int) {
	first, last := t.run.Answered()
	for _, e := range t.run.Trace.Events {
		if n := checker.Pos(e.N); first < n && n < last && t.asks(e) {
			all = append(all, e.N)
		}
	}
	return all
}

// asks reports whether an event is a request of an operation. The first words of a connection are none.
func (t *fenceTeller) asks(e trace.Event) bool {
	exec, ok := e.What.(trace.Exec)
	if !ok {
		return false
	}
	request := strings.ToLower(content(exec.Request))
	if strings.HasPrefix(request, "hello") || strings.HasPrefix(request, "client ") {
		return false
	}
	for _, o := range t.ops {
		if n := checker.Pos(e.N); o.Client == e.Peer && o.Invoked < n && (o.Returned == 0 || n < o.Returned) {
			return true
		}
	}
	return false
}

// phrase is an event of a run whose store is under test, "" for one that is told as in every other run.
func (t *fenceTeller) phrase(e trace.Event) string {
	if t == nil || e.Actor == trace.Probe || e.Peer == trace.Probe {
		return ""
	}
	switch m := e.What.(type) {
	case trace.Exec:
		if t.told[e.N] {
			return fmt.Sprintf("carries out, for %s: %s → %s", e.Peer, short(content(m.Request)), short(content(m.Answer)))
		}
	case trace.Mark:
		if o, ok := t.ops[m.Op]; ok && o.Kind == checker.Write {
			return t.written(o, m)
		}
	}
	return ""
}

// written is a step of a write to a store under test.
func (t *fenceTeller) written(o checker.Op, m trace.Mark) string {
	on := ""
	if t.several {
		on = " on " + o.Resource.String()
	}
	switch {
	case m.Step == trace.Write && o.Again != "":
		return fmt.Sprintf("sends %s again, as %s%s with token %d", o.Again, o.ID, on, o.Token)
	case m.Step == trace.Write:
		return fmt.Sprintf("writes %s%s with token %d", o.ID, on, o.Token)
	case m.Step != trace.Written:
		return ""
	case o.Outcome == checker.OutcomeOK:
		return "is told that " + o.ID + " is stored"
	case o.Outcome == checker.OutcomeRefused:
		return "is told that " + o.ID + " is refused"
	}
	return "is not told what became of " + o.ID
}

// content is a request or an answer as its server's kind describes it.
func content(c trace.Content) string {
	if c == nil {
		return "(waits)"
	}
	return string(c.AppendText(nil))
}

// short is a text of at most 120 characters on one line.
func short(text string) string {
	const most = 120
	if runes := []rune(trace.Readable(text)); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return trace.Readable(text)
}
