// Package outcome has the result of a run as data: the verdict in each fencing mode, with the history and the trace,
// the story, the violations of a promise, the states of the world, and the form in which a run is stored. It compiles
// no client, no server and no driver: package [locksim/scenarios/play] makes outcomes, and reports show them.
package outcome
