package reviews

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/tally"
)

func explored(n int) string { return prose.Count(n, "explored run") }

// within says how the promise was kept.
func within(f *Figures) string {
	return fmt.Sprintf("within its promise no violation in %s (with 95 %% confidence fewer than %s of such runs "+
		"break it), which is no proof", prose.Evidence(f.Within.Evidence, "explored run"),
		Percentage(tally.RateBound(f.Within.Violating, f.Within.Evidence)))
}

// consequences are the effects of violations on work that may be done twice.
func consequences(labels map[checker.Label]int) string {
	var parts []string
	for _, c := range []struct {
		n    int
		text string
	}{
		{labels[checker.Overlap] + labels[checker.Repeated] + labels[checker.Corrupted],
			"work that is done twice, or undone"},
		{labels[checker.Stuck], "work that waits until the lock is freed"},
		{labels[checker.FalseReject], "work that a fence refuses and that is done again"},
	} {
		if c.n > 0 {
			parts = append(parts, c.text)
		}
	}
	return strings.Join(parts, "; ")
}

// brokenByAll says what an exploration with every fault found.
func brokenByAll(f *Figures) string {
	return fmt.Sprintf("%s of %s broke it%s", prose.Thousands(f.All.Violating),
		prose.Evidence(f.All.Evidence, "explored run"), bracketed(f.All.Violations))
}

// brokenBySweep says what a sweep without a promise found.
func brokenBySweep(f *Figures) string {
	return fmt.Sprintf("so did %s of %s of a single fault%s", prose.Thousands(f.Swept.Violating),
		placementsOf(f.Swept.Runs), bracketed(f.Swept.Violations))
}

func placementsOf(n int) string {
	if n == 1 {
		return "1 placement"
	}
	return prose.Thousands(n) + " placements"
}

// bracketed are harms in brackets, or nothing.
func bracketed(labels map[checker.Label]int) string {
	if len(labels) == 0 {
		return ""
	}
	return " (" + harms(labels) + ")"
}

// Percentage is a rate in words, such as "0.12 %".
func Percentage(rate float64) string {
	if rate >= 0.995 {
		return "100 %"
	}
	return fmt.Sprintf("%.2g %%", 100*rate)
}

func (f *Figures) reasons(a Advice) []string {
	out := []string{}
	add := func(yes bool, format string, args ...any) {
		if yes {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(f.Swept.Runs > 0 && f.Promises, "A sweep of the single faults that its promise covers, at every step of one "+
		"scenario: %s, %s with a violation.", placementsOf(f.Swept.Runs), prose.Thousands(f.Swept.Violating))
	if a.Use == ForEfficiency {
		add(f.Promises && f.Within.Violating == 0 && a.Rule != "kept", "Within its promise: no violation in %s.",
			prose.Evidence(f.Within.Evidence, "explored run"))
		add(f.All.Violations[checker.Overlap] > 0, "With %s, two clients had the lock at once in %s.", tried(f.Faults),
			explored(f.All.Violations[checker.Overlap]))
		add(f.All.Violations[checker.Stuck] > 0, "With %s, the lock did not become free by itself in %s.", tried(f.Faults),
			explored(f.All.Violations[checker.Stuck]))
		return out
	}
	return append(out, f.fenceReasons(a)...)
}

// fenceReasons are the figures behind an advice on correctness.
func (f *Figures) fenceReasons(a Advice) []string {
	var out []string
	if best, ok := f.mode(a.Fence); ok {
		out = append(f.residue(best), f.alternative(best)...)
	}
	if cas, ok := f.mode(fence.CAS); ok {
		out = append(out, fmt.Sprintf("For comparison, a store that checks versions (cas) needs no lock at all: data was "+
			"lost in %s on the same ground.", share(cas.Grounds[f.ground()])))
	}
	return out
}

// residue is the remaining harm with the best fence.
func (f *Figures) residue(best Mode) []string {
	var out []string
	if n := best.Grounds[f.ground()]; n.refused() > 0 {
		out = append(out, fmt.Sprintf("With %s, %s of %s on the ground of its promise ended stuck or with a rightful "+
			"holder refused (%s): a client that is refused must be able to begin again.",
			best.Mode, prose.Thousands(n.refused()), runsOf(n.Runs), harms(n.Labels)))
	}
	if n := best.Grounds[GroundOutside]; f.Promises && n.corrupted() > 0 {
		out = append(out, fmt.Sprintf("Outside its promise %s does not always help: data was lost in %s.", best.Mode,
			strings.Join(n.Corrupted, ", ")))
	}
	if n := best.Grounds[GroundSeveralWrites]; n.corrupted() > 0 {
		out = append(out, fmt.Sprintf("A section that writes more than once can be cut in half with any fence: with %s "+
			"data was lost in %s (%s).",
			best.Mode, share(n), strings.Join(n.Corrupted, ", ")))
	}
	return out
}

// alternative is a fence that does better outside the promise, with its cost.
func (f *Figures) alternative(best Mode) []string {
	other, ok := f.milder(best)
	if !f.Promises || !ok {
		return nil
	}
	text := fmt.Sprintf("Outside its promise the rule %s does better: data was lost in %s", other.Mode,
		share(other.Grounds[GroundOutside]))
	for _, g := range []Ground{GroundOutside, GroundPromised} {
		if n := other.Grounds[g]; n.refused() > 0 {
			text += fmt.Sprintf("; at the price of %s of %s %s in which a rightful holder was refused or the lock was stuck",
				prose.Thousands(n.refused()), runsOf(n.Runs), g.words())
		}
	}
	return []string{text + "."}
}

func (f *Figures) answer(advice []Advice) string {
	var b strings.Builder
	for _, a := range advice {
		fmt.Fprintf(&b, "For %s: %s. ", a.Use, a.verdict())
	}
	var total Count
	for _, m := range f.Modes {
		total.Runs += m.Total().Runs
		total.Scenarios = max(total.Scenarios, m.Total().Scenarios)
	}
	fmt.Fprintf(&b, "Measured: %s", inScenarios(total))
	if f.Within.Runs > 0 {
		fmt.Fprintf(&b, "; %s within its promise, of which %s tested the lock and %s "+
			"broke it", explored(f.Within.Runs), prose.Thousands(f.Within.Evidence), prose.Thousands(f.Within.Violating))
		if f.Within.Violating == 0 && f.Within.Evidence > 0 {
			fmt.Fprintf(&b, " (with 95 %% confidence fewer than %s of such "+
				"runs do)", Percentage(tally.RateBound(f.Within.Violating, f.Within.Evidence)))
		}
	}
	if f.All.Runs > 0 {
		fmt.Fprintf(&b, "; and %s with %s, of which %s tested the lock and %s "+
			"broke it", explored(f.All.Runs), tried(f.Faults), prose.Thousands(f.All.Evidence), prose.Thousands(f.All.Violating))
	}
	return b.String() + ". None of this is a proof: it holds for such runs only."
}

// verdict is the verdict of an advice with its fence.
func (a Advice) verdict() string {
	if a.Fence != "" {
		return fmt.Sprintf("%s (%s)", a.Verdict, a.Fence)
	}
	return string(a.Verdict)
}
