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
// struck them, what became of the keys of the lock, and what the store decided about their writes. It marks the step
// that decided the run, and each grant at which another client had the lock
// already. Reports shorten it to the room they have.
func tell(run *ModeRun) []Line {
	fatal, fatalRemark := fatalStep(run, []fence.Mode{run.Mode})
	ofProbe := probePhrases(run)
	shared := sharedGrants(run.History)
	stale := firstStale(run.History, true)
	told := notices{care: run.History.Care, several: len(resourcesOf(run)) > 1, releasing: map[[2]string]bool{}}
	keys, deciders, fenced := keyLines(run), decidersOf(run, fatal), newFenceTeller(run)
	named := sharedBefore(*run, staleWrite(*run)) // in what happened
	var lines []Line
	for _, e := range run.Trace.Events {
		for _, line := range keys[e.N] {
			line.Decides = line.Decides || deciders.ofKey(line)
			lines = append(lines, line)
		}
		// the error of a lock may have several lines
		text := trace.Readable(cmp.Or(fenced.phrase(e), told.phrase(e), ofProbe[e.N]))
		if text == "" {
			continue
		}
		line := Line{N: e.N, At: e.At, Actor: actorOf(e), What: text, Text: text, Fatal: e.N == fatal,
			Decides: deciders.tells(e)}
		if line.Fatal {
			line.Remark = fatalRemark
		}
		if with := shared[checker.Pos(e.N)]; with != nil {
			line.Shared, line.Remark = true, cmp.Or(line.Remark, with.remark())
			line.Decides = line.Decides || named != nil && named.Granted.Granted == checker.Pos(e.N)
		}
		if e.N == stale && run.Verdict.Label == checker.Corrupted {
			line.Remark = cmp.Or(line.Remark, "a stale write")
		}
		if line.Remark != "" {
			line.Text += " — " + line.Remark
		}
		lines = append(lines, line)
	}
	return lines
}

// notices decide which of the notices that a lock gives of a loss are told.
type notices struct {
	care      checker.Care
	several   bool               // resources
	releasing map[[2]string]bool // clients and resources
}

// phrase is an event in words. A notice that comes after the client has begun to
// release is left out: many locks tell then that the lease is over. A client that
// does not look for notices goes on.
func (n notices) phrase(e trace.Event) string {
	m, ok := e.What.(trace.Mark)
	lease := [2]string{e.Actor, m.Resource}
	switch {
	case !ok:
	case m.Step == trace.Granted:
		n.releasing[lease] = false
	case m.Step == trace.Release:
		n.releasing[lease] = true
	case m.Step == trace.LostSeen && n.releasing[lease]:
		return ""
	}
	return phrase(e, trace.View{Deaf: n.care != checker.CareLost && n.care != checker.CareSteps, Several: n.several})
}

// resourcesOf are those that the clients of a run asked for.
func resourcesOf(run *ModeRun) map[string]bool {
	all := map[string]bool{}
	for _, e := range run.Trace.Events {
		if m, ok := e.What.(trace.Mark); ok && m.Step == trace.Acquire && e.Actor != trace.Probe {
			all[m.Resource] = true
		}
	}
	return all
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

// phrase is an event in words, or "" if a story leaves it out.
func phrase(e trace.Event, view trace.View) string {
	if e.Actor == trace.Probe || e.Peer == trace.Probe {
		return ""
	}
	view.At = e.At
	text := e.What.Words(view).Story
	if text != "" && several(e) {
		return e.Peer + ": " + text // several processes have no common column
	}
	return text
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
// modes: the second grant if claims overlapped and the data is corrupted, or if two clients
// held the lock at once; the stale write that the store took if the data is corrupted and
// the lock kept its claims apart; the first stale operation that it refused if the data was
// rescued; otherwise the step of the first reason. It is 0 for none.
func fatalStep(run *ModeRun, modes []fence.Mode) (step int, remark string) {
	if n := wrongAnswer(run); n > 0 {
		return n, "the wrong answer"
	}
	switch run.Verdict.Label {
	case checker.Safe, checker.Untested:
		return 0, ""
	case checker.Corrupted:
		if run.Verdict.Facts.ClaimOverlaps > 0 {
			return int(sharedBefore(*run, nil).Granted.Granted), ""
		}
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
		if run.Verdict.Facts.Liveness != checker.LivenessOK {
			return stuckSince(run), remark
		}
	}
	if d := displaced(run); len(d) > 0 {
		return d[0].Step, ""
	}
	for _, r := range run.Verdict.Reasons {
		switch {
		case len(r.At) == 0:
		case run.Verdict.Label == checker.Overlap, run.Verdict.Label == checker.FalseReject:
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
