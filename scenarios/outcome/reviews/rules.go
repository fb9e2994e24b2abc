package reviews

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome/tally"
)

// Advice is the recommendation for one use of a lock. It follows from the
// figures of a review by the first rule for that use whose condition holds.
type Advice struct {
	// Use is what the lock is used for.
	Use Use `json:"use"`
	// Verdict is the recommendation in a word or two.
	Verdict Verdict `json:"verdict"`
	// Fence is the fencing mode that it recommends; empty for none.
	Fence fence.Mode `json:"fence,omitempty"`
	// Rule is the id of the rule that applied.
	Rule string `json:"rule"`
	// Text is the recommendation in a sentence.
	Text string `json:"text"`
	// Reasons are the figures behind the recommendation.
	Reasons []string `json:"reasons"`
}

// Use is the purpose of a lock.
type Use string

// The uses, by what a violation costs.
const (
	// ForEfficiency means that work that is done twice is only waste.
	ForEfficiency Use = "efficiency"
	// ForCorrectness means that a violation costs money or data.
	ForCorrectness Use = "correctness"
)

// Verdict is a recommendation in a word or two. None of them says that a lock is
// safe: no figure could show that.
type Verdict string

// The verdicts.
const (
	Suitable    Verdict = "suitable"
	WithCare    Verdict = "with care"
	BehindFence Verdict = "only behind a fence"
	NotSuitable Verdict = "not suitable"
	Undecided   Verdict = "undecided"
)

// Rule is a rule of a review. In a review, Text is its result; in [Rules] and
// [Questions] it is the condition, in words.
type Rule struct {
	// ID is the name of the rule.
	ID string `json:"id"`
	// Text is the condition of the rule or, in a review, what follows from it.
	Text string `json:"text"`
}

// adviceRule is a rule for one or both of the uses.
type adviceRule struct {
	id      string
	uses    []Use
	verdict Verdict
	// when is the condition in words, holds checks it, say is the advice.
	when  string
	holds func(f *Figures) bool
	say   func(f *Figures) string
	// fences says that the advice recommends the best fence.
	fences bool
}

var bothUses = []Use{ForEfficiency, ForCorrectness}

// enoughEvidence is the number of runs that are evidence that a recommendation
// needs: with fewer, not even a rate of one violation in a hundred runs is ruled
// out.
const enoughEvidence = 300

// tested counts the runs that are evidence by which the lock is judged: those
// within its promise or, without a promise, all.
func (f *Figures) tested() int {
	if f.Promises {
		return f.Within.Evidence
	}
	return f.All.Evidence + f.Swept.Evidence
}

// more says how many more runs decide what too few have left undecided.
func (f *Figures) more() string {
	runs := f.Within.Runs
	if !f.Promises {
		runs = f.All.Runs + f.Swept.Runs
	}
	tested := f.tested()
	if tested == 0 {
		return "More runs alone do not change that: give it scenarios in which clients meet and faults are felt."
	}
	missing := (enoughEvidence - tested) * max(runs, tested)
	need := (missing + tested - 1) / tested
	return fmt.Sprintf("At this rate %s more are enough to decide (--runs).", runsOf(need))
}

// unproven says why the explored runs are no evidence about the lock; "" if nothing does.
func (f *Figures) unproven() string { return cmp.Or(f.Within.Unproven(), f.All.Unproven()) }

// commonRules come first: if one of them holds, it decides for every use.
var commonRules = []adviceRule{
	{id: "doubtful", uses: bothUses, verdict: Undecided,
		when:  "a run differed when it was repeated, did not end, or could not be made",
		holds: func(f *Figures) bool { return f.Doubtful > 0 },
		say: func(f *Figures) string {
			return fmt.Sprintf("No recommendation: %s differed when repeated, did not end, or could not be made. Find out why "+
				"first.", prose.Count(f.Doubtful, "run"))
		}},
	{id: "faultless", uses: bothUses, verdict: NotSuitable,
		when:  "it breaks without any fault, and not only because there is no fence",
		holds: func(f *Figures) bool { return len(f.Faultless) > 0 },
		say: func(f *Figures) string {
			return fmt.Sprintf("Not in its present form: it breaks without any fault (%s).", strings.Join(f.Faultless, "; "))
		}},
	{id: "promise-broken", uses: bothUses, verdict: NotSuitable,
		when:  "it breaks its promise",
		holds: func(f *Figures) bool { return f.Promises && f.Within.Violating+f.Swept.Violating > 0 },
		say: func(f *Figures) string {
			return fmt.Sprintf("Not in its present form: it breaks its own promise, in %s of %s, and at %s of %s of a single "+
				"fault.",
				prose.Thousands(f.Within.Violating), prose.Evidence(f.Within.Evidence, "explored run"),
				prose.Thousands(f.Swept.Violating), placementsOf(f.Swept.Runs))
		}},
	{id: "unproven", uses: bothUses, verdict: NotSuitable,
		when:  "no Release of it succeeded in the explored runs, or no Extend, or a server did not know a command of it",
		holds: func(f *Figures) bool { return f.unproven() != "" },
		say: func(f *Figures) string {
			return fmt.Sprintf("Not in its present form: %s.", f.unproven())
		}},
	{id: "thin", uses: bothUses, verdict: Undecided,
		when:  fmt.Sprintf("fewer than %d of the runs by which it is judged really tested it", enoughEvidence),
		holds: func(f *Figures) bool { return f.tested() < enoughEvidence },
		say: func(f *Figures) string {
			return fmt.Sprintf("No recommendation: too little was measured. Only %s tested the lock, and one that breaks "+
				"in up to %s of such runs could pass so few. %s",
				runsOf(f.tested()), Percentage(tally.RateBound(0, f.tested())), f.more())
		}},
}

// efficiencyRules are for work that may be done twice.
var efficiencyRules = []adviceRule{
	{id: "unpromised", uses: []Use{ForEfficiency}, verdict: WithCare,
		when:  "it promises nothing, and a run broke it",
		holds: func(f *Figures) bool { return !f.Promises && f.All.Violating+f.Swept.Violating > 0 },
		say: func(f *Figures) string {
			return fmt.Sprintf("Only if a failure costs little and is noticed: the lock promises nothing by which it could be "+
				"judged, and %s, %s.", brokenByAll(f), brokenBySweep(f))
		}},
	{id: "kept", uses: []Use{ForEfficiency}, verdict: Suitable,
		when:  "it keeps its promise, and breaks only when it is judged by more than it promises",
		holds: func(f *Figures) bool { return f.Promises && f.All.Violating > 0 },
		say: func(f *Figures) string {
			return fmt.Sprintf("Suitable, as far as was measured: %s. Judged as if it promised everything, under %s, %s: that "+
				"is %s.", within(f), tried(f.Faults), brokenByAll(f), consequences(f.All.Violations))
		}},
	{id: "unbroken", uses: []Use{ForEfficiency}, verdict: Suitable,
		when:  "no run broke it",
		holds: func(*Figures) bool { return true },
		say: func(f *Figures) string {
			return fmt.Sprintf("Suitable, as far as was measured: no violation in %s, with %s, nor at %s of a single fault. "+
				"That is no proof.", prose.Evidence(f.All.Evidence+f.Within.Evidence, "explored run"), tried(f.Faults),
				placementsOf(f.Swept.Runs))
		}},
}

// correctnessRules are for work that must not be done twice, and whose data must
// be right.
var correctnessRules = []adviceRule{
	{id: "unmeasured", uses: []Use{ForCorrectness}, verdict: Undecided,
		when: "neither a scenario nor a break compares the fences as far as its promise reaches",
		holds: func(f *Figures) bool {
			_, ok := f.bestFence()
			return !ok
		},
		say: func(*Figures) string {
			return "No recommendation: neither a scenario of the library nor a break compares the fences with this lock as " +
				"far as its promise reaches."
		}},
	{id: "not-refuted", uses: []Use{ForCorrectness}, verdict: WithCare,
		when:  "no run lost data, not even without a fence",
		holds: func(f *Figures) bool { return f.corrupted() == 0 },
		say: func(f *Figures) string {
			none, _ := f.mode(fence.None)
			return fmt.Sprintf("Not refuted: no data was lost without a fence in %s, nor in %s. That is no proof: put a fence "+
				"before the data anyway if the store can have one.",
				inScenarios(none.Total()), prose.Evidence(f.All.Evidence, "explored run"))
		}},
	{id: "fence", uses: []Use{ForCorrectness}, verdict: BehindFence, fences: true,
		when: "without a fence data was lost, and with the best one none was, as far as its promise reaches",
		holds: func(f *Figures) bool {
			best, _ := f.bestFence()
			return f.losses(best) == 0
		},
		say: func(f *Figures) string {
			best, _ := f.bestFence()
			return fmt.Sprintf("Only behind a store that fences by the rule %s. Without a fence %s; with it %s.", best.Mode,
				f.lost(fence.None), f.lost(best.Mode))
		}},
	{id: "no-fence-helps", uses: []Use{ForCorrectness}, verdict: NotSuitable,
		when:  "the best fence lost data too, as far as its promise reaches",
		holds: func(*Figures) bool { return true },
		say: func(f *Figures) string {
			best, _ := f.bestFence()
			return fmt.Sprintf("Not suitable: no fence that was measured kept the data right. Without one %s; with the best, "+
				"%s, %s.", f.lost(fence.None), best.Mode, f.lost(best.Mode))
		}},
}

// rulesFor are the rules for a use, in the order in which they are tried.
func rulesFor(use Use) []adviceRule {
	rules := slices.Concat(commonRules, efficiencyRules, correctnessRules)
	return slices.DeleteFunc(rules, func(r adviceRule) bool { return !slices.Contains(r.uses, use) })
}

// Rules are the conditions of the rules for a use, in the order in which they
// are tried; the first that holds decides.
func Rules(use Use) []Rule {
	var out []Rule
	for _, r := range rulesFor(use) {
		out = append(out, Rule{r.id, r.when + ": " + string(r.verdict)})
	}
	return out
}

// Advice is the recommendation for each use.
func (f *Figures) Advice() []Advice {
	var out []Advice
	for _, use := range bothUses {
		for _, r := range rulesFor(use) {
			if r.holds(f) {
				out = append(out, r.advice(use, f))
				break
			}
		}
	}
	return out
}

func (r adviceRule) advice(use Use, f *Figures) Advice {
	a := Advice{Use: use, Verdict: r.verdict, Rule: r.id, Text: r.say(f), Reasons: []string{}}
	if r.fences {
		best, _ := f.bestFence()
		a.Fence = best.Mode
	}
	if a.Verdict != Undecided {
		a.Reasons = f.reasons(a)
	}
	return a
}
