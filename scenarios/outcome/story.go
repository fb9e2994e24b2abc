package outcome

import (
	"cmp"
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/sim/trace"
)

// tell writes the whole story of a run: what the clients did, which faults
// struck them, and what the store decided about their writes. It marks the step
// that decided the run, and each grant at which another client had the lock
// already. Reports shorten it to the room they have.
func tell(run *ModeRun) []Line {
	fatal, fatalRemark := fatalStep(run, []fence.Mode{run.Mode})
	ofProbe := probePhrases(run)
	shared := sharedGrants(run.History)
	told := notices{care: run.History.Care, releasing: map[[2]string]bool{}}
	var lines []Line
	for _, e := range run.Trace.Events {
		text := trace.Readable(cmp.Or(told.phrase(e), phrase(e), ofProbe[e.N])) // the error of a lock may have several lines
		if text == "" {
			continue
		}
		line := Line{N: e.N, At: e.At, Actor: actorOf(e), What: text, Text: text, Fatal: e.N == fatal}
		if line.Fatal {
			line.Remark = fatalRemark
		}
		if with := shared[checker.Pos(e.N)]; with != nil {
			line.Shared, line.Remark = true, cmp.Or(line.Remark, with.remark())
		}
		if line.Remark != "" {
			line.Text += " — " + line.Remark
		}
		lines = append(lines, line)
	}
	return lines
}

// notices tells of the notices that a lock gives of a loss.
type notices struct {
	care      checker.Care
	releasing map[[2]string]bool // clients and resources
}

// phrase is a notice in words. One that comes after the client has begun to release is none: many locks tell then that the
// lease is over. A client that does not look for notices goes on.
func (n notices) phrase(e trace.Event) string {
	m, ok := e.What.(trace.Mark)
	if !ok {
		return ""
	}
	lease := [2]string{e.Actor, m.Resource}
	switch m.Step {
	case trace.Granted:
		n.releasing[lease] = false
	case trace.Release:
		n.releasing[lease] = true
	case trace.LostSeen:
		switch {
		case n.releasing[lease]:
		case n.care == checker.CareLost || n.care == checker.CareSteps:
			return "learns that it has lost the lock"
		default:
			return "is told that it has lost the lock, and does not look"
		}
	}
	return ""
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
	case trace.Await:
		return "waits for " + e.Text()
	}
	text := clock(e)
	if c, ok := e.What.(trace.Crash); ok && c.Panic != "" {
		text = "PANICS: " + c.Panic
	}
	if text == "" {
		what := strikes(e.What)
		if what == "" {
			return ""
		}
		text = strings.TrimSpace(what + " " + e.Text())
	}
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
	case trace.Revived:
		return "has a lease that holds again, although it had ended"
	case trace.UntilSeen:
		return "sees that its lease has ended, and stops"
	case trace.Reentered:
		return "enters again " + text(m)
	case trace.InnerWrite:
		return "writes inside " + m.Op
	case trace.Point:
		return passed(m)
	}
	return ""
}

// passed is a point that a client passes.
func passed(m trace.Mark) string {
	switch m.Label {
	case trace.PointExtend:
		return "asks to extend its lease"
	case trace.PointExtended:
		return "has extended its lease"
	case trace.PointNotExtended:
		return "fails to extend its lease: " + m.Problem
	}
	return "passes " + m.Label
}

func text(m trace.Mark) string { return string(m.AppendText(nil)) }

// strikes is the effect of a fault, before its details; empty for other events.
func strikes(what trace.What) string {
	switch what := what.(type) {
	case trace.Pause:
		return "PAUSED for"
	case trace.Resume:
		return "RESUMES"
	case trace.Suspend:
		return "MACHINE SLEEPS, its monotonic clock with it, for"
	case trace.Wake:
		return "MACHINE WAKES: its monotonic clock has not counted that time"
	case trace.Terminate:
		return "IS ASKED TO END (SIGTERM) within"
	case trace.Crash:
		switch what.Mode {
		case trace.Exit:
			return "ENDS"
		case trace.Kill:
			return "IS KILLED:"
		}
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
	case trace.ErrorReply:
		return "ANSWERS WITH AN ERROR:"
	case trace.ErrorReplyEnd:
		return "answers as before:"
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
	}
	return ""
}

// clock is what has become of a clock; empty for other events.
func clock(e trace.Event) string {
	switch c := e.What.(type) {
	case trace.ClockJump:
		switch {
		case e.At > 0:
			return "CLOCK JUMPS by " + e.Text()
		case c.By < 0:
			return "CLOCK IS BEHIND from the start, by " + (-c.By).String()
		}
		return "CLOCK IS AHEAD from the start, by " + c.By.String()
	case trace.ClockDrift:
		switch c.PPM {
		case -1_000_000:
			return "CLOCK STANDS STILL"
		case 0:
			return "CLOCK RUNS as before"
		}
		return "CLOCK DRIFTS by " + e.Text()
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
	return "fails to release: " + strings.TrimPrefix(m.Problem, "release "+m.Resource+": ")
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

// holders are the clients that had the lock when another one was granted it.
type holders struct {
	claims  []string // those with a claim
	beliefs []string // those that only believed that they had it
}

// sharedGrants are the holders at each grant at which there were some, by its step.
func sharedGrants(h checker.History) map[checker.Pos]*holders {
	all := map[checker.Pos]*holders{}
	for _, o := range checker.SharedGrants(h) {
		at := all[o.Granted.Granted]
		if at == nil {
			at = new(holders)
			all[o.Granted.Granted] = at
		}
		if o.Claims {
			at.claims = append(at.claims, o.Held.Client)
		} else {
			at.beliefs = append(at.beliefs, o.Held.Client)
		}
	}
	return all
}

// remark says what a grant beside the holders means.
func (h *holders) remark() string {
	if len(h.claims) > 0 {
		return fmt.Sprintf("while the claim of %s goes on: the lock breaks its promise", strings.Join(h.claims, " and of "))
	}
	if len(h.beliefs) == 1 {
		return fmt.Sprintf("while %s still believes that it has it", h.beliefs[0])
	}
	return fmt.Sprintf("while %s still believe that they have it", strings.Join(h.beliefs, " and "))
}

// FatalRemark is the remark on the decisive step of a run, for a report that shows the
// run for several fencing modes in which it took the same course. It is empty where
// that step has none.
func FatalRemark(run *ModeRun, modes []fence.Mode) string {
	_, remark := fatalStep(run, modes)
	return remark
}

// fatalStep is the step that decided the run, with a remark on it, which names the
// modes: the stale write that the store took if the data is corrupted, the first stale
// operation that it refused if the data was rescued, the second grant if two clients
// held the lock at once, otherwise the step of the first reason. It is 0 for none.
func fatalStep(run *ModeRun, modes []fence.Mode) (step int, remark string) {
	switch run.Verdict.Label {
	case checker.Safe:
		return 0, ""
	case checker.Corrupted:
		if n := firstStale(run.History, true); n > 0 {
			if len(modes) > 1 {
				return n, fmt.Sprintf("a stale write, modes %s let it through", prose.Commas(modes))
			}
			return n, fmt.Sprintf("a stale write, mode %s lets it through", run.Mode)
		}
	case checker.Rescued:
		if n := firstStale(run.History, false); n > 0 {
			return n, "stale: " + guardOf(modes) + " saves the data"
		}
	case checker.Stuck:
		if run.Barred {
			remark = "nobody else gets the lock any more"
		}
		return stuckSince(run), remark
	}
	for _, r := range run.Verdict.Reasons {
		switch {
		case len(r.At) == 0:
		case run.Verdict.Label == checker.Overlap:
			return int(r.At[0]), ""
		default:
			return int(r.At[len(r.At)-1]), ""
		}
	}
	return 0, ""
}

// guardOf names what saves the data in some modes, as the subject of a sentence.
func guardOf(modes []fence.Mode) string {
	for _, m := range modes[1:] {
		if m.Guard() != modes[0].Guard() {
			return "the fence"
		}
	}
	return modes[0].Guard()
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
