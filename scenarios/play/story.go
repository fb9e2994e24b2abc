package play

import (
	"cmp"
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/sim/trace"
)

// storyOf writes the whole story of a run: what the clients did, which faults
// struck them, and what the store decided about their writes. It marks the step
// that decided the run. Reports shorten it to the room they have.
func storyOf(run *ModeRun) []Line {
	fatal := fatalStep(run)
	ofProbe := probePhrases(run)
	var lines []Line
	for _, e := range run.Trace.Events {
		text := trace.Readable(cmp.Or(phrase(e), ofProbe[e.N])) // the error of a lock may have several lines
		if text == "" {
			continue
		}
		line := Line{N: e.N, At: e.At, Actor: actorOf(e), What: text, Text: text, Fatal: e.N == fatal}
		if line.Fatal {
			line.Remark = fatalRemark(run)
		}
		if line.Remark != "" {
			line.Text += " — " + line.Remark
		}
		lines = append(lines, line)
	}
	return lines
}

// actorOf is the column of an event: a fault on one process is in that process's column.
func actorOf(e trace.Event) string {
	if e.Actor == trace.World && !several(e) {
		return e.Peer
	}
	return e.Actor
}

// several reports whether a fault struck more than one process, or a link.
func several(e trace.Event) bool { return len(trace.Parties(e)) > 1 }

// phrase is an event in words, or "" if a story leaves it out. It begins with a
// verb: the subject is written before it, or in the heading of its column.
func phrase(e trace.Event) string {
	if e.Actor == trace.Probe || e.Peer == trace.Probe {
		return ""
	}
	switch m := e.What.(type) {
	case trace.Mark:
		return phraseOfMark(m)
	case trace.Decision:
		return decided(m)
	}
	what := strikes(e.What)
	if what == "" {
		return ""
	}
	text := strings.TrimSpace(what + " " + e.Text())
	if several(e) {
		return e.Peer + ": " + text // several processes have no common column
	}
	return text
}

// phraseOfMark is a step of a client in words.
func phraseOfMark(m trace.Mark) string {
	switch m.Step {
	case trace.Acquire:
		return "asks for the lock"
	case trace.Granted:
		return "is granted " + text(m)
	case trace.NotGranted:
		return "gives up: " + m.Problem
	case trace.Read:
		return "read " + text(m)
	case trace.Write:
		return "writes " + m.Op
	case trace.Written:
		return written(m)
	case trace.Released:
		return released(m)
	case trace.Until:
		return "reaches the end of its lease, by its own clock"
	case trace.LostSeen:
		return "learns that it has lost the lock"
	case trace.UntilSeen:
		return "sees that its lease has ended, and stops"
	case trace.Reentered:
		return "enters again " + text(m)
	case trace.InnerWrite:
		return "writes inside " + m.Op
	case trace.Point:
		return "passes " + m.Label
	}
	return ""
}

func text(m trace.Mark) string { return string(m.AppendText(nil)) }

// strikes is the effect of a fault, before its details; empty for other events.
func strikes(what trace.What) string {
	switch what.(type) {
	case trace.Pause:
		return "PAUSED for"
	case trace.Resume:
		return "RESUMES"
	case trace.Crash:
		return "CRASHES:"
	case trace.Restart:
		return "COMES BACK"
	case trace.KillWorker:
		return "LOSES ITS WORKER"
	case trace.Cut:
		return "CUT OFF"
	case trace.Heal:
		return "CONNECTED again"
	case trace.Reset:
		return "RESET"
	case trace.Slow:
		return "SLOW:"
	case trace.SlowEnd:
		return "no longer slow"
	case trace.Stall:
		return "STALLS"
	case trace.StallEnd:
		return "goes on"
	case trace.Refuse:
		return "REFUSES connections"
	case trace.RefuseEnd:
		return "takes connections again"
	case trace.ReadOnly:
		return "READ-ONLY"
	case trace.ReadOnlyEnd:
		return "takes writes again"
	case trace.Toxic:
		return "NETWORK:"
	case trace.ToxicEnd:
		return "network as before:"
	case trace.Promote:
		return "PROMOTED"
	case trace.Evict:
		return "EVICTS"
	case trace.Flush:
		return "FLUSHED:"
	case trace.Exhaust:
		return "POOL EXHAUSTED"
	case trace.ExhaustEnd:
		return "pool free again"
	case trace.ClockJump:
		return "CLOCK JUMPS by"
	case trace.ClockDrift:
		return "CLOCK DRIFTS by"
	}
	return ""
}

// written is the end of a write that did not simply succeed: the store's own line
// shows the others.
func written(m trace.Mark) string {
	switch checker.Outcome(m.Outcome) {
	case "":
		return ""
	case checker.OutcomeUnknown:
		return "has no answer to its write"
	case checker.OutcomeNotSent:
		return "cannot send its write"
	default:
		return "has its write " + m.Outcome
	}
}

func released(m trace.Mark) string {
	if m.Problem == "" {
		return "has released"
	}
	return "fails to release: " + strings.TrimPrefix(m.Problem, "release "+resource+": ")
}

// decided is a decision about a write, or about a read that was refused.
func decided(d trace.Decision) string {
	switch {
	case d.Refused != "":
		return "REFUSES " + d.Brief()
	case d.Write:
		return "takes " + d.Brief()
	}
	return ""
}

// fatalStep is the step that decided the run: the stale write that the store took
// if the data is corrupted, the first stale operation that it refused if the data
// was rescued, otherwise the step of the first reason.
func fatalStep(run *ModeRun) int {
	switch run.Verdict.Label {
	case checker.Safe:
		return 0
	case checker.Corrupted:
		if n := firstStale(run.History, true); n > 0 {
			return n
		}
	case checker.Rescued:
		if n := firstStale(run.History, false); n > 0 {
			return n
		}
	case checker.Stuck:
		return stuckSince(run)
	}
	for _, r := range run.Verdict.Reasons {
		if len(r.At) > 0 {
			return int(r.At[len(r.At)-1])
		}
	}
	return 0
}

// firstStale is the step of the first write that was taken, or operation that
// was refused, although a later grant of the resource existed by then.
func firstStale(h checker.History, accepted bool) int {
	granted := map[int]checker.Pos{}
	for _, g := range h.Grants {
		granted[g.ID] = g.Granted
	}
	first := 0
	for _, op := range h.Ops {
		if op.Applied == 0 || op.Accepted != accepted || accepted && op.Kind != checker.Write {
			continue
		}
		if laterGrant(h, granted[op.Grant], op.Applied) && (first == 0 || int(op.Applied) < first) {
			first = int(op.Applied)
		}
	}
	return first
}

func laterGrant(h checker.History, mine, by checker.Pos) bool {
	for _, g := range h.Grants {
		if g.Granted > mine && g.Granted < by {
			return true
		}
	}
	return false
}

func fatalRemark(run *ModeRun) string {
	switch run.Verdict.Label {
	case checker.Corrupted:
		return fmt.Sprintf("a stale write, mode %s lets it through", run.Mode)
	case checker.Rescued:
		return "stale: " + run.Mode.Guard() + " saves the data"
	case checker.Stuck:
		if run.Barred {
			return "nobody else gets the lock any more"
		}
	}
	return ""
}
