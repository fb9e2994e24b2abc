package reports

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// verdictCard is one mode's verdict, at the head of the page.
type verdictCard struct {
	Mode     fence.Mode
	Rule     string
	Label    checker.Label
	Expected checker.Label
	Worse    bool // than expected
	Reason   string
}

// rules say what the store does in each mode.
var rules = map[fence.Mode]string{
	fence.None:   "The store takes everything.",
	fence.Check:  "The store refuses a write with a token below the highest one written.",
	fence.Seal:   "Reads count too: the store refuses whatever has a token below the highest one seen.",
	fence.Strict: "As seal, and a token belongs to the first grant that sends it.",
	fence.Claim:  "A read claims the resource for its grant; the store refuses a write whose claim is gone.",
	fence.CAS:    "The store takes a write only on the version that it is based on.",
}

func verdictCards(o *play.Outcome) []verdictCard {
	worse := map[fence.Mode]bool{}
	for _, m := range o.Mismatches() {
		worse[m.Mode] = true
	}
	var cards []verdictCard
	for _, m := range o.Modes {
		c := verdictCard{Mode: m.Mode, Rule: rules[m.Mode], Label: m.Verdict.Label, Worse: worse[m.Mode]}
		c.Expected, _ = o.Expected(m.Mode)
		if len(m.Verdict.Reasons) > 0 {
			c.Reason = m.Verdict.Reasons[0].Text
		}
		if m.Trace == nil {
			c.Reason = fmt.Sprintf("Not run: this mode needs fencing tokens, and lock %s mints none.", o.Lock)
		}
		cards = append(cards, c)
	}
	return cards
}

// labelWords are the labels in words, as the end of a sentence about a run.
var labelWords = map[checker.Label]string{
	checker.Corrupted:   "the data ended corrupted",
	checker.Unknown:     "the data was not decided",
	checker.Stuck:       "the lock could not be taken again",
	checker.FalseReject: "a rightful holder was refused",
	checker.Rescued:     "the fence saved the data",
	checker.Overlap:     "two clients held the lock at once, and no harm came of it",
	checker.Safe:        "nothing went wrong",
}

// headline is the whole outcome in a sentence or two: modes that ended alike
// are named together.
func headline(o *play.Outcome) string {
	var parts []string
	for _, label := range labelsOf(o) {
		modes := labelled(o, label)
		parts = append(parts, fmt.Sprintf("with %s %s", fencing(modes), labelWords[label]))
	}
	if len(parts) == 0 {
		return "No run was made."
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// fencing names modes as the head of a sentence does.
func fencing(modes []fence.Mode) string {
	if modes[0] != fence.None {
		return "fencing " + strings.ReplaceAll(prose.Commas(modes), ", ", " or ")
	}
	if len(modes) == 1 {
		return "no fence"
	}
	return "no fence, and with " + fencing(modes[1:]) + ","
}

// labelsOf are the labels of the runs, in the order of their modes.
func labelsOf(o *play.Outcome) []checker.Label {
	var out []checker.Label
	seen := map[checker.Label]bool{}
	for _, m := range ran(o) {
		if l := m.Verdict.Label; !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

// factTable has a column per mode and a row per fact.
type factTable struct {
	Modes []fence.Mode
	Rows  []factRow
}

// factRow is one fact in every mode.
type factRow struct {
	Name, Note string
	Values     []string
}

// facts are the rows, each with what it says of a run.
var facts = []struct {
	name, note string
	value      func(m play.ModeRun) string
}{
	{"Data", "by the exact check", func(m play.ModeRun) string { return string(m.Verdict.Facts.Data) }},
	{"Lost updates", "acknowledged, and not in the data", number(func(f checker.Facts) int { return f.LostUpdates })},
	{"Torn sections", "in the data by half", number(func(f checker.Facts) int { return f.TornSections })},
	{"Claims that overlap", "the lock broke its promise", number(func(f checker.Facts) int { return f.ClaimOverlaps })},
	{"Beliefs that overlap", "a client outlived its lease", number(func(f checker.Facts) int { return f.BeliefOverlaps })},
	{"Stale writes taken", "", number(func(f checker.Facts) int { return f.StaleAccepted })},
	{"Stale operations refused", "", number(func(f checker.Facts) int { return f.StaleRejected })},
	{"Rightful holders refused", "", number(func(f checker.Facts) int { return f.FalseRejects })},
	{"Keys of another deleted", "", number(func(f checker.Facts) int { return f.ForeignReleases })},
	{"Lock can be taken again", "", func(m play.ModeRun) string { return string(m.Verdict.Facts.Liveness) }},
	{"Acquires contended", "", func(m play.ModeRun) string {
		f := m.Verdict.Facts
		return fmt.Sprintf("%d of %d", f.Contended, f.Grants+f.Attempts)
	}},
	{"Faults that struck", "", struck},
	{"Longest wait", "", func(m play.ModeRun) string { return prose.Seconds(m.LongestWait) }},
	{"Events, virtual time", "", func(m play.ModeRun) string { return fmt.Sprintf("%d in %s", m.Events, prose.Seconds(m.Virtual)) }},
	{"Second opinion", "porcupine, on the same history", func(m play.ModeRun) string { return string(m.Corroboration.Agreement) }},
}

func number(of func(checker.Facts) int) func(play.ModeRun) string {
	return func(m play.ModeRun) string { return fmt.Sprint(of(m.Verdict.Facts)) }
}

func newFactTable(o *play.Outcome) factTable {
	t := factTable{Modes: modesOf(o)}
	for _, f := range facts {
		row := factRow{Name: f.name, Note: f.note}
		for _, m := range o.Modes {
			value := prose.Nothing
			if m.Trace != nil {
				value = f.value(m)
			}
			if value == "" {
				value = prose.Nothing
			}
			row.Values = append(row.Values, value)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
