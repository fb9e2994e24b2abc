// Package sweep places faults systematically: each kind of fault at each boundary of
// one run without faults, where a boundary is an instant at which a client or a server
// has just done something. A [Plan] enumerates the places and cuts them into jobs,
// [Job.Play] plays one, and [AssembleSweep] puts the blocks together.
package sweep
