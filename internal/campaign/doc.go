// Package campaign does work that is cut into numbered jobs: in child processes,
// in shards on several machines, and over several evenings.
//
// A [Campaign] says what the jobs are. [Campaign.Run] has them done by package
// workers, those of its [Shard] alone, and writes each result into a journal as
// soon as it is there. Whatever ends the run, it can go on from that journal,
// and [Union] puts together what shards have found out.
//
// A result depends on its job alone, and a job on the plan and its number alone.
// So it does not matter who did which job, or when: what is made of the results
// is the same. Two results of one job that differ are an error.
package campaign
