package search

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/internal/prose"
	"locksim/scenarios/spaces"
)

// strategy is a way to choose what a search plays. Each is a file of this package, and a row of strategies.
type strategy struct {
	name string
	draw func(d *drawer) // draws a scenario
}

// strategies are all of them.
var strategies = []strategy{swarms}

// Swarm and Default are names of strategies: the one that came first, and the one that a search has unless it names
// another.
const (
	Swarm   = "swarm"
	Default = Swarm
)

// Strategies are the names of all strategies. The caller owns the slice.
func Strategies() []string {
	var names []string
	for _, s := range strategies {
		names = append(names, s.name)
	}
	return names
}

// knownStrategy returns an error for a space that names a strategy that there is not.
func knownStrategy(s spaces.Space) error {
	if s.Strategy == "" || slices.Contains(Strategies(), s.Strategy) {
		return nil
	}
	return fmt.Errorf("there is no strategy %q: %s", s.Strategy, prose.Choose(s.Strategy, Strategies()))
}

// strategyOf is the strategy that a space names.
func strategyOf(s spaces.Space) strategy {
	if err := knownStrategy(s); err != nil {
		panic("search: " + err.Error())
	}
	name := cmp.Or(s.Strategy, Default)
	return strategies[slices.IndexFunc(strategies, func(s strategy) bool { return s.name == name })]
}
