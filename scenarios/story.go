package scenarios

import (
	"cmp"
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/faults"
	"locksim/sim/trace"
)

// tell writes the whole story of a run: what the clients did, what struck
// them, and what the store made of their writes, with the step marked that
// decided it. Who shows it leaves out what there is no room for.
func tell(run *ModeRun) []Line {
	fatal := fatalStep(run)
	lastly := tellProbe(run)
	var lines []Line
	for _, e := range run.Trace.Events {
		text := cmp.Or(phrase(e), lastly[e.N])
		if text == "" {
			continue
		}
		line := Line{N: e.N, At: e.At, Actor: actorOf(e), Text: text, Fatal: e.N == fatal}
		if line.Fatal {
			line.Text += fatalRemark(run)
		}
		lines = append(lines, line)
	}
	return lines
}

// actorOf puts what happens to one client or node into its column.
func actorOf(e trace.Event) string {
	if e.Actor == "world" && !several(e.Peer) {
		return e.Peer
	}
	return e.Actor
}

// several reports whether a fault hit more than one process, or a link.
func several(peer string) bool { return strings.ContainsAny(peer, ",>") }

// struck is what a fault did, with the names of those whom it hit where they
// have no column of their own.
func struck(what string) func(e trace.Event) string {
	return func(e trace.Event) string {
		text := strings.TrimSpace(what + " " + e.Text)
		if several(e.Peer) {
			return e.Peer + ": " + text
		}
		return text
	}
}

// phrases are the kinds of events that a story tells, in words. They begin with a
// verb: whoever acts stands in front of them, or above.
var phrases = map[string]func(e trace.Event) string{
	faults.EventAcquire:  func(trace.Event) string { return "asks for the lock" },
	faults.EventGranted:  func(e trace.Event) string { return "is granted " + e.Text },
	"not-granted":        func(e trace.Event) string { return "gives up: " + e.Text },
	faults.EventRead:     func(e trace.Event) string { return "read " + e.Text },
	faults.EventWrite:    func(e trace.Event) string { return "writes " + e.Text },
	faults.EventWritten:  written,
	faults.EventReleased: released,
	"until":              func(trace.Event) string { return "reaches the end of its lease, by its own clock" },
	"lost-seen":          func(trace.Event) string { return "learns that it has lost the lock" },
	"until-seen":         func(trace.Event) string { return "sees that its lease has ended, and stops" },
	"store":              decided,
	"pause":              struck("PAUSED for"),
	"resume":             struck("RESUMES"),
	"crash":              struck("CRASHES:"),
	"cut":                struck("CUT OFF"),
	"heal":               struck("CONNECTED again"),
	"reset":              struck("RESET"),
	"restart":            struck("COMES BACK"),
	"kill-worker":        struck("LOSES ITS WORKER"),
	"slow":               struck("SLOW:"),
	"slow-end":           struck("no longer slow"),
	"stall":              struck("STALLS"),
	"stall-end":          struck("goes on"),
	"refuse":             struck("REFUSES connections"),
	"refuse-end":         struck("takes connections again"),
	"read-only":          struck("READ-ONLY"),
	"read-only-end":      struck("takes writes again"),
	"toxic":              struck("NETWORK:"),
	"toxic-end":          struck("network as before:"),
	"promote":            struck("PROMOTED"),
	"evict":              struck("EVICTS"),
	"flush":              struck("FLUSHED:"),
	"exhaust":            struck("POOL EXHAUSTED"),
	"exhaust-end":        struck("pool free again"),
	"reentered":          func(e trace.Event) string { return "enters again " + e.Text },
	"inner-write":        func(e trace.Event) string { return "writes inside " + e.Text },
	"clock-jump":         struck("CLOCK JUMPS by"),
	"clock-drift":        struck("CLOCK DRIFTS by"),
	"point":              func(e trace.Event) string { return "passes " + e.Text },
}

// phrase is an event in words, or nothing where a story leaves it out.
func phrase(e trace.Event) string {
	f, ok := phrases[e.Kind]
	if !ok || e.Actor == "probe" || e.Peer == "probe" {
		return ""
	}
	return f(e)
}

// written tells only of writes that did not simply work: the store's own line
// tells of the others.
func written(e trace.Event) string {
	_, problem, bad := strings.Cut(e.Text, " ")
	if !bad {
		return ""
	}
	switch outcome, _, _ := strings.Cut(problem, ":"); outcome {
	case string(checker.OutcomeUnknown):
		return "has no answer to its write"
	case string(checker.OutcomeNotSent):
		return "cannot send its write"
	default:
		return "has its write " + outcome
	}
}

func released(e trace.Event) string {
	if e.Text == resource {
		return "has released"
	}
	return "fails to release: " + strings.TrimPrefix(e.Text, "release "+resource+": ")
}

// decided tells of writes, and of reads that were refused.
func decided(e trace.Event) string {
	request, answer, _ := strings.Cut(e.Text, " -> ")
	f := strings.Fields(request)
	if len(f) < 5 {
		return ""
	}
	refused := strings.HasPrefix(answer, "REFUSED")
	what := "write " + f[3]
	if f[0] == "READ" {
		if !refused {
			return ""
		}
		what = "read " + f[3]
	}
	if f[4] != "0" {
		what += " (token " + f[4] + ")"
	}
	if refused {
		return "REFUSES " + what
	}
	return "takes " + what
}

// fatalStep is the step at which the run was decided: the stale write that
// the store took where the data is corrupted, the first stale operation that
// it refused where it was rescued, otherwise what the first reason speaks of.
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
		return fmt.Sprintf(" — a stale write, mode %s lets it through", run.Mode)
	case checker.Rescued:
		return " — stale: the fencing token saves the data"
	case checker.Stuck:
		if run.Barred {
			return " — nobody else gets the lock any more"
		}
	}
	return ""
}
