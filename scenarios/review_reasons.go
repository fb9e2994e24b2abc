package scenarios

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/lock/fence"
)

func explored(n int) string {
	if n == 1 {
		return "1 explored run"
	}
	return grouped(n) + " explored runs"
}

// within says how the promise was kept.
func within(f *ReviewFigures) string {
	return fmt.Sprintf("within its promise no violation in %s that are evidence (a rate below %s at 95 %%), which is no proof", explored(f.Within.Evidence), Percentage(f.Within.RateBound))
}

// brokenByAll says what every fault together did.
func brokenByAll(f *ReviewFigures) string {
	return fmt.Sprintf("%s of %s that are evidence broke it (%s)", grouped(f.All.Violating), explored(f.All.Evidence), harms(f.All.Labels))
}

// Percentage is a rate in words, such as "0.12 %".
func Percentage(rate float64) string { return fmt.Sprintf("%.2g %%", 100*rate) }

// reasons are the figures behind an advice.
func (f *ReviewFigures) reasons(a ReviewAdvice) []string {
	out := []string{}
	add := func(yes bool, format string, args ...any) {
		if yes {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(f.Swept.Runs > 0, "A sweep of single faults at every step of one scenario: %s, %s with a violation.", numberOf(f.Swept.Runs, "placement"), grouped(f.Swept.Violating))
	if a.Use == ForEfficiency {
		add(f.Promises && f.Within.Violating == 0 && a.Rule != "kept", "Within its promise: no violation in %s that are evidence.", explored(f.Within.Evidence))
		add(f.All.Labels[checker.Stuck] > 0, "In %s the lock could not be had again by itself: work waits until somebody notices.", explored(f.All.Labels[checker.Stuck]))
		add(f.All.Labels[checker.Overlap] > 0, "In %s two claims overlapped: the work is done twice.", explored(f.All.Labels[checker.Overlap]))
		return out
	}
	return append(out, f.fenceReasons(a)...)
}

// fenceReasons are the figures behind an advice on correctness.
func (f *ReviewFigures) fenceReasons(a ReviewAdvice) []string {
	var out []string
	best, ok := f.mode(a.Fence)
	if ok {
		n := best.Grounds[f.ground()]
		if n.refused() > 0 {
			out = append(out, fmt.Sprintf("With %s, %s of %s on the ground of its promise ended stuck or with a rightful holder refused (%s): a client that is refused must be able to begin again.",
				best.Mode, grouped(n.refused()), runsOf(n.Runs), harms(n.Labels)))
		}
		if elsewhere := best.sum(GroundOutside); f.Promises && elsewhere.corrupted() > 0 {
			out = append(out, fmt.Sprintf("Outside its promise %s does not always help: data was lost in %s.", best.Mode, strings.Join(elsewhere.Corrupted, ", ")))
		}
		if several := best.Grounds[GroundSeveralWrites]; several.corrupted() > 0 {
			out = append(out, fmt.Sprintf("A section that writes more than once can be cut in half whatever the fence: with %s data was lost in %s of %s (%s).",
				best.Mode, grouped(several.corrupted()), runsOf(several.Runs), strings.Join(several.Corrupted, ", ")))
		}
	}
	if cas, ok := f.mode(fence.CAS); ok {
		n := cas.Grounds[f.ground()]
		out = append(out, fmt.Sprintf("For comparison, a store that checks versions needs no lock at all: it lost data in %s on the same ground.", f.share(n)))
	}
	return out
}

// answer is the review in a paragraph.
func (f *ReviewFigures) answer(advice []ReviewAdvice) string {
	var b strings.Builder
	for _, a := range advice {
		fmt.Fprintf(&b, "For %s: %s. ", a.Use, a.verdict())
	}
	var total ReviewCount
	for _, m := range f.Modes {
		total.Runs += m.Total().Runs
		total.Scenarios = max(total.Scenarios, m.Total().Scenarios)
	}
	fmt.Fprintf(&b, "Measured were %s", inScenarios(total))
	if f.Within.Runs > 0 {
		fmt.Fprintf(&b, "; %s within its promise, %s evidence, %s with a violation", explored(f.Within.Runs), areEvidence(f.Within.Evidence), grouped(f.Within.Violating))
		if f.Within.Violating == 0 && f.Within.Evidence > 0 {
			fmt.Fprintf(&b, " (a rate below %s at 95 %%)", Percentage(f.Within.RateBound))
		}
	}
	if f.All.Runs > 0 {
		fmt.Fprintf(&b, "; and %s with every fault there is, %s evidence, %s with a violation", explored(f.All.Runs), areEvidence(f.All.Evidence), grouped(f.All.Violating))
	}
	return b.String() + ". None of this is a proof: it speaks of these runs and of this generator."
}

func areEvidence(n int) string {
	if n == 1 {
		return "1 of them"
	}
	return grouped(n) + " of them"
}

// verdict is the verdict of an advice with its fence.
func (a ReviewAdvice) verdict() string {
	if a.Fence != "" {
		return fmt.Sprintf("%s (%s)", a.Verdict, a.Fence)
	}
	return string(a.Verdict)
}
