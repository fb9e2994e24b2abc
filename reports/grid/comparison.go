package grid

import (
	"fmt"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/comparisons"
)

// Program is what the commands of a comparison begin with.
func Program(c *comparisons.Comparison) string {
	for _, l := range c.Locks {
		for _, s := range l.Survives {
			for _, run := range HarmShown(s) {
				if program, _, found := strings.Cut(run.Replay, " run "+run.Scenario+" "); found {
					return program
				}
			}
		}
	}
	return "locksim"
}

// TripsNote says how round trips are counted, and what the signs of the table of needs say.
func TripsNote(c *comparisons.Comparison) string {
	text := "Round trips are counted without contention, on open connections, one after another; " +
		"in brackets are the messages to all servers, where these are more."
	if slices.ContainsFunc(c.Locks, func(l comparisons.Lock) bool { return l.Crowd != nil }) {
		text += " Waits: how many times the median wait the longest one took, of five clients that want one lock again and " +
			"again; with ! a client starved: it waited ten times the median, and ten grants went to others that had asked " +
			"later."
	}
	if slices.ContainsFunc(c.Locks, func(l comparisons.Lock) bool {
		return l.Trips.Acquire.WaitsSeconds > 0 || l.Trips.Release.WaitsSeconds > 0
	}) {
		text += " A lock that waits does so without contention too, for the end of a lease that its last holder did not " +
			"give back."
	}
	if slices.ContainsFunc(c.Locks, Uncompared) {
		text += " " + uncomparedSign + " Every cell of this lock is against documentation: its servers were written after " +
			"that, and there was no real one to compare them with."
	}
	return text
}

// uncomparedSign is for servers that were compared with no real ones.
const uncomparedSign = "°"

// Uncompared reports whether some servers of a lock were compared with no real ones.
func Uncompared(l comparisons.Lock) bool {
	return slices.ContainsFunc(l.Servers, func(s comparisons.Servers) bool { return s.Uncompared })
}

// LockHead is the name of a lock over its results.
func LockHead(l comparisons.Lock) string {
	if Uncompared(l) {
		return l.Name + " " + uncomparedSign
	}
	return l.Name
}

// ComparisonEvidence says how many runs a comparison is based on, and what that
// proves.
func ComparisonEvidence(c *comparisons.Comparison) string {
	runs := 0
	for _, l := range c.Locks {
		for _, s := range l.Survives {
			runs += s.Runs
		}
	}
	where := ""
	if len(c.Also) > 0 {
		where = " and of " + prose.Commas(c.Also)
	}
	if c.Live {
		where += " on real servers"
	}
	return fmt.Sprintf("%s runs of the scenarios of the library%s, %s. That a lock survives means that these runs "+
		"showed no harm. It is not a proof.",
		prose.Thousands(runs), where, c.Seeds)
}

// Need is a column of the table of what locks need: its heading, and its text for a
// lock.
type Need struct {
	Head string
	Text func(l comparisons.Lock) string
	// Spare says that another table has it too: a report without room leaves the column out.
	Spare bool
}

// Needs are the columns of that table after the name of the lock.
func Needs() []Need {
	return []Need{
		{Head: "servers", Text: serversText},
		{Head: "tokens", Text: func(l comparisons.Lock) string { return prose.YesNo(l.Tokens) }},
		{Head: "acquire", Text: func(l comparisons.Lock) string { return tripText(&l.Trips.Acquire) }},
		{Head: "release", Text: func(l comparisons.Lock) string { return tripText(&l.Trips.Release) }},
		{Head: "renew", Text: renewText},
		{Head: "waits", Text: waitText},
		{Head: "not to be had, s", Text: worstText, Spare: true},
	}
}

func serversText(l comparisons.Lock) string {
	var parts []string
	for _, s := range l.Servers {
		part := fmt.Sprintf("%d %s", s.Count, s.Kind)
		if s.Uncompared {
			part += " " + uncomparedSign
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// tripText is "1", "1 (5)" with the messages to all servers, or "1, waits 9.5 s".
func tripText(t *comparisons.Trip) string {
	text := fmt.Sprint(t.RoundTrips)
	if t.Messages > t.RoundTrips {
		text = fmt.Sprintf("%d (%d)", t.RoundTrips, t.Messages)
	}
	if t.WaitsSeconds > 0 {
		text += fmt.Sprintf(", waits %.1f s", t.WaitsSeconds)
	}
	return text
}

// waitText is how many times the median wait the longest one took, and whether a client starved.
func waitText(l comparisons.Lock) string {
	switch c := l.Crowd; {
	case c == nil:
		return "-"
	case c.Starved > 0:
		return fmt.Sprintf("%.1f × !", c.LongestSeconds/c.MedianSeconds)
	default:
		return fmt.Sprintf("%.1f ×", c.LongestSeconds/c.MedianSeconds)
	}
}

func renewText(l comparisons.Lock) string {
	text := "-"
	if l.Trips.Renew != nil {
		text = tripText(l.Trips.Renew)
	}
	if l.Trips.Unasked {
		text += ", by itself"
	}
	return text
}

// The words of a cell that name no fencing mode, and the signs around one.
const (
	noFenceNeeded = "ok"    // no fence is needed
	noFenceHelps  = "no"    // no fence helps
	stuckWord     = "stuck" // no fence helps, since the lock is stuck
	notPlayed     = "?"
	refusesSign   = "*"
	overlapSign   = "!"
)

// SurvivalWord is a survival in a word.
func SurvivalWord(s comparisons.Survival) string {
	word := string(s.Fence)
	switch {
	case s.Scenarios == 0:
		return unpromised(s, notPlayed)
	case s.Fence == fence.None:
		word = noFenceNeeded
	case s.Stuck():
		word = stuckWord
	case s.Fence == "":
		word = noFenceHelps
	}
	if s.Refused != nil {
		word += refusesSign
	}
	if s.Overlap != nil {
		word += overlapSign
	}
	return unpromised(s, word)
}

func unpromised(s comparisons.Survival, word string) string {
	if s.Promised {
		return word
	}
	return "(" + word + ")"
}

// HarmShown are the runs by which a report shows the harm of a survival, each once: that
// of the weakest fence that failed or refused a rightful holder, and that in which claims
// overlapped.
func HarmShown(s comparisons.Survival) []comparisons.Seen {
	var out []comparisons.Seen
	switch {
	case len(s.Others) > 0:
		first := slices.MinFunc(s.Others, func(a, b comparisons.Seen) int {
			return slices.Index(fence.Modes(), a.Mode) - slices.Index(fence.Modes(), b.Mode)
		})
		out = append(out, first)
	case s.Refused != nil:
		out = append(out, *s.Refused)
	}
	if o := s.Overlap; o != nil && !slices.ContainsFunc(out, func(one comparisons.Seen) bool {
		return one.Scenario == o.Scenario && one.Seed == o.Seed && one.Mode == o.Mode
	}) {
		out = append(out, *o)
	}
	return out
}

// Played reports whether any lock was played under a class, by its number.
func Played(c *comparisons.Comparison, class int) bool {
	return slices.ContainsFunc(c.Locks, func(l comparisons.Lock) bool { return l.Survives[class].Scenarios > 0 })
}

// Unplayed is a sentence that names the classes without a row, "" where all have one.
func Unplayed(c *comparisons.Comparison) string {
	var names []string
	for i, class := range c.Classes {
		if !Played(c, i) {
			names = append(names, ClassName(class))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Without a row, since no scenario has them with these locks: " + strings.Join(names, ", ") +
		". For these, see the promises (" + Program(c) + " list) or run an exploration (" + Program(c) + " explore)."
}

// SurvivalSign is a text of a cell of the table of survivals, and its meaning.
type SurvivalSign struct{ Word, Meaning string }

// SurvivalSigns explain [SurvivalWord].
func SurvivalSigns() []SurvivalSign {
	return []SurvivalSign{
		{noFenceNeeded, "the data is right without a fence"},
		{"seal", "or another fence: it keeps the data right, and none of those before it does, in the order check, " +
			"seal, strict, claim, cas"},
		{"seal" + refusesSign, "that fence also refuses a client that rightfully holds the lock"},
		{noFenceHelps, "with every fence the data is wrong or the lock stuck"},
		{stuckWord, "no client can acquire the lock any more, and no fence helps"},
		{"seal" + overlapSign, "the lock had two holders: their claims overlapped in a run"},
		{"(seal)", "the lock promises nothing here: other runs may end worse"},
		{notPlayed, "no scenario says anything of this lock and these faults"},
		{ClassName(comparisons.NoFault), "nothing fails, but some clients work longer than their lease lasts"},
	}
}
