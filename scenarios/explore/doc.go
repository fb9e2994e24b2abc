// Package explore looks for violations of a lock's promise in scenarios that
// consecutive seeds draw. A [explorations.Plan] cuts the search into jobs that any number of
// processes share; [Job.Play] makes the runs of one, and [explorations.Assemble] combines the
// blocks of all jobs, whatever their order.
package explore
