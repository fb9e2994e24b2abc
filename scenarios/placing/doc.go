// Package placing finds in a run without faults where a fault can strike that finds the world in another state, and
// places each kind of fault there. It reads the trace alone, and plays nothing: package [locksim/scenarios/sweep] does.
package placing
