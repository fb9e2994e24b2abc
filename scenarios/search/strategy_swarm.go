package search

// swarms draws everything at once: sizes, lengths and ways of the workload, and the faults in the manner of a swarm.
var swarms = strategy{draw: func(d *drawer) {
	d.lock()
	d.world()
	d.workload()
	d.schedule()
	d.further()
}}
