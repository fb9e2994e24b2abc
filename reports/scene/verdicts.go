package scene

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// Modes are the fencing modes of an outcome.
func Modes(o *outcome.Outcome) []fence.Mode {
	var modes []fence.Mode
	for _, m := range o.Modes {
		modes = append(modes, m.Mode)
	}
	return modes
}

// Ran are the runs that were made.
func Ran(o *outcome.Outcome) []outcome.ModeRun {
	var runs []outcome.ModeRun
	for _, m := range o.Modes {
		if m.Trace != nil {
			runs = append(runs, m)
		}
	}
	return runs
}

// Repeated says how often each run was made.
func Repeated(r outcome.Repeat) string {
	if r == outcome.Twice {
		return "each run made twice, equal"
	}
	return "each run made once"
}

// rules say what the store does in each mode.
var rules = map[fence.Mode]string{
	fence.None:   "The store takes everything.",
	fence.Check:  "The store refuses a write with a token below the highest one written.",
	fence.Seal:   "Reads count too: the store refuses every operation with a token below the highest one seen.",
	fence.Strict: "As seal, and a token belongs to the first grant that sends it.",
	fence.Claim:  "A read claims the resource for its grant; the store refuses a write whose claim is gone.",
	fence.CAS:    "The store takes a write only on the version that it is based on.",
}

// Rule says what the store does in a mode, in a sentence.
func Rule(mode fence.Mode) string { return rules[mode] }

// ending describes a run of an outcome, as the end of a sentence.
func ending(o *outcome.Outcome, m outcome.ModeRun) string {
	if m.Verdict.Label != checker.Rescued {
		return m.Verdict.Ending()
	}
	for _, mode := range labelled(o, checker.Rescued) {
		if mode.Guard() != m.Mode.Guard() {
			return "the fence saved the data"
		}
	}
	return m.Mode.Guard() + " saved the data"
}

// atOnce says that a lock had two holders at once, by its own claims or in the belief of
// the clients of a run that ended so, as the end of a sentence.
func atOnce(m outcome.ModeRun) string {
	switch f := m.Verdict.Facts; {
	case f.ClaimOverlaps > 0:
		return "two clients held the lock at once"
	case m.Verdict.Label == checker.Overlap:
		return "two clients believed at once that they held the lock"
	}
	return ""
}

// Headline is the outcome in a sentence or two. It says first that two clients held the
// lock at once, where they did in every run. Modes that ended in the same way are named
// together.
func Headline(o *outcome.Outcome) string {
	runs := Ran(o)
	if len(runs) == 0 {
		return "No run was made."
	}
	shared := atOnce(runs[0])
	if slices.ContainsFunc(runs, func(m outcome.ModeRun) bool { return atOnce(m) != shared }) {
		shared = ""
	}
	var texts []string // in the order in which they first appear
	modes := map[string][]fence.Mode{}
	for _, m := range runs {
		text := ending(o, m)
		if both := atOnce(m); both != "" && shared == "" {
			text = both + ", and " + text
		}
		if modes[text] == nil {
			texts = append(texts, text)
		}
		modes[text] = append(modes[text], m.Mode)
	}
	var parts []string
	for _, text := range texts {
		parts = append(parts, fmt.Sprintf("with %s %s", fencing(modes[text]), text))
	}
	if shared != "" {
		parts[0] = shared + ": " + parts[0]
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// labelled are the modes whose runs ended with a label.
func labelled(o *outcome.Outcome, label checker.Label) []fence.Mode {
	var modes []fence.Mode
	for _, m := range Ran(o) {
		if m.Verdict.Label == label {
			modes = append(modes, m.Mode)
		}
	}
	return modes
}

// fencing names modes after the word "with".
func fencing(modes []fence.Mode) string {
	if modes[0] != fence.None {
		n := len(modes) - 1
		if n == 0 {
			return "fencing " + string(modes[0])
		}
		return fmt.Sprintf("fencing %s or %s", prose.Commas(modes[:n]), modes[n])
	}
	if len(modes) == 1 {
		return "no fence"
	}
	return "no fence, and with " + fencing(modes[1:]) + ","
}

// Figures are the facts of a run that a table of verdicts shows: overlaps of claims
// and of beliefs, stale operations taken and refused, the data, contended acquires,
// faults that struck, the longest wait, events, virtual time.
func Figures(m outcome.ModeRun) []string {
	if m.Trace == nil {
		return []string{prose.Nothing, prose.Nothing, prose.Nothing, prose.Nothing, prose.Nothing, prose.Nothing,
			prose.Nothing, prose.Nothing}
	}
	f := m.Verdict.Facts
	return []string{
		fmt.Sprintf("%d / %d", f.ClaimOverlaps, f.BeliefOverlaps),
		fmt.Sprintf("%d / %d", f.StaleAccepted, f.StaleRejected),
		string(f.Data),
		fmt.Sprintf("%d of %d", f.Contended, f.Grants+f.Attempts),
		Struck(m),
		prose.Seconds(m.LongestWait),
		fmt.Sprint(m.Events),
		prose.Seconds(m.Virtual),
	}
}

// Struck is "2 of 3" where 2 of the 3 faults of a run struck.
func Struck(m outcome.ModeRun) string {
	if len(m.FaultsFired) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", fired(m), len(m.FaultsFired))
}

func fired(m outcome.ModeRun) int {
	n := 0
	for _, f := range m.FaultsFired {
		if f {
			n++
		}
	}
	return n
}

// Remarks are facts that neither the verdicts nor the table of facts show.
func Remarks(o *outcome.Outcome) []string {
	var out []string
	if len(o.Scenario.Expect[o.Lock]) == 0 {
		out = append(out, fmt.Sprintf("The scenario says nothing about what to expect of %s.", o.Subject()))
	}
	for _, m := range Ran(o) {
		if m.PartialPause {
			out = append(out, fmt.Sprintf("Mode %s: the lock acted during a pause, through timers that no seam holds.", m.Mode))
		}
	}
	return out
}

// Schedule is a scenario as YAML: its file, or the file that would describe it. For a
// scenario made in Go that no file can describe, it is a comment with the reason.
func Schedule(sc *file.Scenario) string {
	if len(sc.Source) > 0 {
		return string(sc.Source)
	}
	err := sc.Validate()
	if err == nil {
		var b []byte
		if b, err = file.Format(sc); err == nil {
			return string(b)
		}
	}
	return fmt.Sprintf("# made in Go; no scenario file can describe it: %v\n", err)
}
