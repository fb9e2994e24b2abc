// Package worlds plays scenarios in both worlds, the simulated one and the live one, and compares what became of them.
//
// A cell is a scenario, a lock and a fencing mode. Its simulated labels are those of some seeds, its live labels those of some
// runs. The worlds agree in a cell if every live label is one of the simulated ones. A cell in which they do not is explained
// by name, in explained.go, or is open.
//
// Live runs mostly sleep, so several are made at once. Each that has ended is written into a journal, from which [Compare]
// goes on after an interruption.
package worlds
