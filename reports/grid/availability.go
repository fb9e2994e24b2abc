package grid

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/scenarios/outcome/comparisons"
)

// TroubleText is a trouble of [comparisons.Availability]: the head of its cells, and what strikes.
type TroubleText struct {
	Trouble comparisons.Trouble
	Head    string
	Meaning string
}

var troubles = []TroubleText{
	{comparisons.ServerCrashes, "server crashes", "the process of the lock’s one server ends, or that of the leader of " +
		"its group, and is back 3 s later with what it had written to files (Redis: everysec)"},
	{comparisons.MemberLost, "member lost", "a server that does not lead ends for good: of a group, of a quorum, or a " +
		"replica"},
	{comparisons.PrimaryLost, "primary lost", "the primary ends for good, and Sentinels, whose down-after is 5 s, " +
		"switch to a replica"},
	{comparisons.HolderCrashes, "holder crashes", "the process of a client that has the lock ends, and its system " +
		"closes the connections"},
	{comparisons.HolderLost, "holder cut off", "nothing comes from the machine of a client that has the lock any more: " +
		"it has lost its power, or its network"},
	{comparisons.HolderPaused, "holder paused", "the process of a client that has the lock stands still for longer than " +
		"any lease"},
}

// Troubles are the troubles that some lock of a comparison can have.
func Troubles(c *comparisons.Comparison) []TroubleText {
	return slices.DeleteFunc(slices.Clone(troubles), func(t TroubleText) bool {
		return !slices.ContainsFunc(c.Locks, func(l comparisons.Lock) bool {
			_, ok := l.Availability.Of(t.Trouble)
			return ok
		})
	})
}

// notToBeHadText is for how long a lock is not to be had after a trouble: "3.0 / 9.8", and "–" for a trouble that its
// servers cannot have.
func notToBeHadText(l comparisons.Lock, t comparisons.Trouble) string {
	n, ok := l.Availability.Of(t)
	if !ok {
		return "–"
	}
	usual := l.Availability.UsualSeconds
	median, longest := secondsAbove(n.MedianSeconds, usual), secondsAbove(n.LongestSeconds, usual)
	if n.Never > 0 {
		longest = fmt.Sprintf("never (%d)", n.Never)
	}
	switch {
	case n.MedianNever():
		return longest
	case median == longest:
		return median
	}
	return median + " / " + longest
}

// secondsAbove is "0" for a time that is no longer than usual.
func secondsAbove(seconds, usual float64) string {
	if seconds <= usual {
		return "0"
	}
	return fmt.Sprintf("%.1f", seconds)
}

// usualText is for how long it is not to be had without a trouble, at most.
func usualText(l comparisons.Lock) string {
	if l.Availability == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", l.Availability.UsualSeconds)
}

// troubleRuns is how often each trouble was played with a lock: "200", or "48 to 50" where some did not strike.
func troubleRuns(l comparisons.Lock) string {
	if l.Availability == nil || len(l.Availability.Troubles) == 0 {
		return "–"
	}
	fewest, most := l.Availability.Troubles[0].Runs, 0
	for _, n := range l.Availability.Troubles {
		fewest, most = min(fewest, n.Runs), max(most, n.Runs)
	}
	if fewest < most {
		return fmt.Sprintf("%d to %d", fewest, most)
	}
	return fmt.Sprint(most)
}

// TroubleHeads are the heads of the columns of [TroubleCells].
func TroubleHeads(c *comparisons.Comparison) (heads []string) {
	for _, t := range Troubles(c) {
		heads = append(heads, t.Head)
	}
	return append(heads, "usual", "runs of each")
}

// TroubleCells are for how long a lock is not to be had: after each trouble, usually, and in how many runs.
func TroubleCells(c *comparisons.Comparison, l comparisons.Lock) (cells []string) {
	for _, t := range Troubles(c) {
		cells = append(cells, notToBeHadText(l, t.Trouble))
	}
	return append(cells, usualText(l), troubleRuns(l))
}

// worstText is for how long a lock is not to be had after the worst trouble of its servers, and after that of a holder.
func worstText(l comparisons.Lock) string {
	text := ""
	for _, ofHolder := range []bool{false, true} {
		worst := comparisons.NotToBeHad{}
		for _, t := range comparisons.Troubles() {
			n, ok := l.Availability.Of(t)
			if !ok || t.OfHolder() != ofHolder {
				continue
			}
			if worst.Runs == 0 || cmp.Or(cmp.Compare(n.Never, worst.Never),
				cmp.Compare(n.MedianSeconds, worst.MedianSeconds)) > 0 {
				worst = n
			}
		}
		if ofHolder {
			text += " · "
		}
		text += notToBeHadText(l, worst.Trouble)
	}
	if l.Availability == nil {
		return "-"
	}
	return text
}

// NotToBeHadNote says what is counted: "" where no lock was tried.
func NotToBeHadNote(c *comparisons.Comparison) string {
	if len(Troubles(c)) == 0 {
		return ""
	}
	return "Not to be had: after a trouble, the longest time in which no client has the lock and none is granted it, " +
		"although one asks that was not struck; in seconds, in the run in the middle / in the longest of all. 0: no longer " +
		"than before the trouble, which is “usual” at most. Two clients want the lock for 20 ms about once a second, with " +
		"a lease of 10 s, and one trouble strikes a run, at an instant that the seed draws. A holder that is struck has " +
		"the lock no more: it is not free then but abandoned, and its lease or session has to end. “never (2)”: in 2 runs " +
		"no client was granted it again. “–”: its servers cannot have this trouble. A cell with “·” has the worst trouble " +
		"of the servers before it, and that of a holder after it."
}
