package reviewpage

import (
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/reviews"
	"locksim/scenarios/outcome/tally"
)

// Worst is the worst failure of the lock in a few words. A format that can draw shows its
// diagram.
type Worst struct {
	Title  string
	Label  checker.Label
	Text   string
	Replay string
}

func worstBlocks(r *reviews.Review) []Block {
	w := r.Worst()
	if w == nil {
		return []Block{paragraph("Nothing that was tried broke it. That is no proof.")}
	}
	v := &Worst{Label: w.Label}
	if f := w.Failure; f != nil {
		v.Title, v.Text, v.Replay = f.Shape, whereFound(r.Plan, *f), f.Replay
	} else {
		s := w.Scenario
		v.Title, v.Replay = s.Title, s.Replay
		v.Text = fmt.Sprintf("Scenario %s of the library, seed %d, %s. %s", s.Name, w.Seed, behind(w), insideOrOut(r, s))
	}
	return []Block{{Worst: v}}
}

func behind(w *reviews.Worst) string {
	if w.Mode == fence.None {
		return "without a fence"
	}
	return "behind the fence " + string(w.Mode)
}

func insideOrOut(r *reviews.Review, s *reviews.Scenario) string {
	switch {
	case r.OfEveryLease(s):
		return fmt.Sprintf("No lock with a lease can prevent this; the fence %s can.", r.Lock.Judged)
	case !r.Lock.Promises:
		return "The lock promises nothing."
	case s.Ground == reviews.GroundPromised:
		return "The lock promises that this does not happen."
	}
	return "The lock does not promise to survive this."
}

// survivalBlocks are a table of what the lock survives.
func survivalBlocks(r *reviews.Review) []Block {
	t := &Table{Name: "The faults and how the lock fares under each", Head: []string{"Faults", "Promised", "The data",
		"Scenarios", "Random runs that broke it"}}
	var untried []string
	row := func(name, promised string, scenarios int, s comparisons.Survival, random string) {
		c := grid.NewMapCell(s)
		t.Rows = append(t.Rows,
			Row{Name: name, Cells: []Cell{{Text: promised}, {Text: c.Text() + " " + meanings[c.Standing], Standing: c.Standing},
				{Text: prose.Thousands(scenarios)}, {Text: random}}})
	}
	mode, n := r.Weakest("")
	row("no fault", prose.YesNo(r.Lock.Promises), n, comparisons.Survival{Promised: true, Scenarios: n, Fence: mode},
		prose.Nothing)
	for _, class := range slices.Concat(r.Lock.Promise.Exclusion, r.Lock.Unpromised) {
		promised := slices.Contains(r.Lock.Promise.Exclusion, class)
		mode, n := r.Weakest(class)
		random := r.All
		if promised && r.Within != nil {
			random = r.Within
		}
		broke := brokeOf(random, classOf(random, string(class)))
		if n == 0 && broke == prose.Nothing {
			name := string(class)
			if promised {
				name += " (promised)"
			}
			untried = append(untried, name)
			continue
		}
		row(string(class), prose.YesNo(promised), n, comparisons.Survival{Promised: true, Scenarios: n, Fence: mode}, broke)
	}
	blocks := []Block{{Table: t}, paragraph("The data: the worst result of the scenarios of the library that have these "+
		"faults and no others, %s each. Random runs: of those in which a client kept another out and such a fault was "+
		"felt, alone or with others.", prose.Count(r.Plan.Seeds.Len(), "seed"))}
	if len(untried) > 0 {
		blocks = append(blocks, paragraph("Not tried, neither by a scenario nor in a random run: %s.", prose.Commas(untried)))
	}
	return blocks
}

// meanings are the standings in words, after their signs.
var meanings = map[grid.Standing]string{grid.StandsAlone: "right without a fence", grid.StandsFenced: "keeps it right",
	grid.StandsWrong: "wrong behind every fence", grid.StandsUnknown: "no scenario"}

func classOf(e *explorations.Exploration, class string) (n tally.ClassTally) {
	if e == nil {
		return n
	}
	for c, n := range e.Summary.Classes {
		if string(c) == class {
			return n
		}
	}
	return n
}

func brokeOf(e *explorations.Exploration, n tally.ClassTally) string {
	if e == nil || n.Evidence == 0 {
		return prose.Nothing
	}
	return fmt.Sprintf("%s of %s", prose.Thousands(n.Violating), prose.Thousands(n.Evidence))
}
