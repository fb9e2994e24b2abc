package spaces

import (
	"fmt"
	"slices"

	"locksim/internal/prose"
)

// Strategy is a way to choose what a search plays. Package search has a file for each.
type Strategy string

// The strategies.
const (
	// each of the others in turn, and variations of runs that came near a violation
	StrategyMixed    Strategy = "mixed"
	StrategySwarm    Strategy = "swarm"    // everything at once, and many or few kinds of fault
	StrategyShort    Strategy = "short"    // few clients and rounds, and faults where something of the lock ends
	StrategyEdges    Strategy = "edges"    // sections as long as the lease, and clocks as far apart as may be
	StrategyHandover Strategy = "handover" // a second client asks in the moment in which the lease of the first ends
	StrategyOrder    Strategy = "order"    // a few messages among all are late or lost
	// many rounds, leases of minutes, names that are alike, two locks at once, clocks that are read in steps
	StrategyRare      Strategy = "rare"
	StrategyUnsteered Strategy = "unsteered" // as mixed, without variations
)

// Strategies lists them, the default first. The caller owns the slice.
func Strategies() []Strategy {
	return []Strategy{StrategyMixed, StrategySwarm, StrategyShort, StrategyEdges, StrategyHandover, StrategyOrder,
		StrategyRare, StrategyUnsteered}
}

// known returns an error for a strategy that there is not. "" stands for the default.
func (s Strategy) known() error {
	if s == "" || slices.Contains(Strategies(), s) {
		return nil
	}
	var names []string
	for _, known := range Strategies() {
		names = append(names, string(known))
	}
	return fmt.Errorf("there is no strategy %q: %s", s, prose.Choose(string(s), names))
}
