// Package campaign runs work that is divided into jobs: in child processes, in shards
// on several machines, and with interruptions.
//
// A [Campaign] defines the jobs, and the further jobs that follow from their results.
// [Campaign.Run] executes the jobs of one [Shard] with package workers, and appends
// each result to a journal as soon as it is known. After an interruption a run can
// continue from that journal. A [Record] has the results of a campaign: Run returns one,
// [Read] reads one from a journal or a document, [Union] combines those of shards, and
// [Campaign.FollowUp] executes the jobs that follow from the combined results.
//
// A [Task] defines what the parent sends to a child and what the child answers. [Serve]
// is the main function of a child.
//
// A result depends on its job alone, and a job on the plan and its number alone. So the
// result of a campaign does not depend on which process executed which job, or when.
// Two different results of one job are an error.
package campaign
