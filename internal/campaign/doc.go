// Package campaign does work that is cut into jobs: in child processes, in shards
// on several machines, and over several evenings.
//
// A [Campaign] says what the jobs are, and which others their results call for.
// [Campaign.Run] has them done by package workers, those of its [Shard] alone, and
// appends each result to a journal as soon as it is there. Whatever ends the run,
// it can go on from that journal. All that is known of a campaign is a [Record]:
// Run returns one, [Read] reads one from a journal or a document, [Union] puts
// together those of shards, and [Campaign.FollowUp] goes on from there.
//
// A [Task] ties the parent to its children: what a child is told, and what it
// answers. [Serve] is the whole of a child.
//
// A result depends on its job alone, and a job on the plan and its number alone.
// So it does not matter who did which job, or when: what is made of the results
// is the same. Two results of one job that differ are an error.
package campaign
