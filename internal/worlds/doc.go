// Package worlds plays scenarios in both worlds, the simulated one and the live one, and compares what became of them.
//
// A cell is a scenario, a lock and a fencing mode. Its simulated labels are those of some seeds, its live labels those
// of some runs. The worlds agree in a cell if every live label is one of the simulated ones. Where they do not,
// [Compare] looks for the reason: it judges the simulated runs by what a live run knows, plays the scenario at the
// scale of the live runs, and asks whether the machine was late. A cell for which it finds none is open.
//
// Live runs mostly sleep, so several are made at once, after the simulated ones. Each that has ended is written into a
// book, from which Compare goes on after an interruption.
package worlds
