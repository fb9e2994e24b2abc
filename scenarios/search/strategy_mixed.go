package search

// mixed takes each of the others in turn, and steers. The shares follow a small sample of the benchmark of
// internal/dev/strategies. The swarm has the longest runs and most of the classes of fault, of which a pass has to say
// how often they struck.
var mixed = strategy{draw: unsteered.draw, vary: steer}

// unsteered is the same without a look back, to compare.
var unsteered = strategy{draw: func(d *drawer) {
	pick(d, swarms, orders, handovers, shorts, orders, swarms, handovers, orders,
		shorts, edges, handovers, orders, swarms, shorts, orders, rares).draw(d)
}}
