// Package sweep places faults systematically: each kind of fault at each boundary
// of one run without faults, where a boundary is an instant at which a client or a
// server has just done something. A [sweeps.Plan] enumerates the placements and cuts them
// into jobs, [Job.Play] plays one, and [sweeps.Assemble] combines the blocks.
package sweep
