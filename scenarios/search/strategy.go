package search

import (
	"cmp"

	"locksim/checker"
	"locksim/scenarios/spaces"
)

// strategy is a way to choose what a search plays. Each is a file of this package, and a row of strategies.
type strategy struct {
	draw func(d *drawer) // draws a scenario
	// vary changes a scenario that came near a violation; nil for a strategy that does not look back.
	vary func(d *drawer, near checker.Slack)
}

// strategies are all of [spaces.Strategies].
var strategies = map[spaces.Strategy]strategy{
	spaces.StrategyMixed:     mixed,
	spaces.StrategySwarm:     swarms,
	spaces.StrategyShort:     shorts,
	spaces.StrategyEdges:     edges,
	spaces.StrategyHandover:  handovers,
	spaces.StrategyOrder:     orders,
	spaces.StrategyRare:      rares,
	spaces.StrategyUnsteered: unsteered,
}

// strategyOf is the strategy that a space names.
func strategyOf(s spaces.Space) strategy {
	return strategies[cmp.Or(s.Strategy, spaces.StrategyMixed)]
}
