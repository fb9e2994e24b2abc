package search

// mixed takes each of the others in turn, and steers. The shares follow a small sample of the benchmark of
// internal/dev/strategies, and give the longest runs, those of the swarm, about
// as much time as each of the others.
var mixed = strategy{draw: unsteered.draw, vary: steer}

// unsteered is the same without a look back, to compare.
var unsteered = strategy{draw: func(d *drawer) {
	pick(d, swarms, orders, handovers, shorts, orders, edges, handovers, orders,
		shorts, orders, handovers, swarms, orders, shorts, orders, rares).draw(d)
}}
