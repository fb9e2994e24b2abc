// Package matrix plays every scenario of a list with every lock, in every fencing
// mode, with a number of seeds, and compares the worst label of each cell with what
// the scenario expects. A [Plan] cuts that into jobs, [Job.Play] makes the runs of
// one, and [Plan.Assemble] combines the answers.
package matrix
