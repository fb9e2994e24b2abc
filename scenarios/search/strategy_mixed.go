package search

// mixed takes each of the others in turn, and steers. The shares follow a small sample of the benchmark of
// internal/dev/strategies, and leave the swarm a quarter, which finds soonest what no lease can prevent.
var mixed = strategy{draw: unsteered.draw, vary: steer}

// unsteered is the same without a look back, to compare.
var unsteered = strategy{draw: func(d *drawer) {
	pick(d, swarms, orders, edges, shorts, orders, swarms, edges, orders,
		shorts, swarms, orders, edges, orders, shorts, swarms, rares).draw(d)
}}
