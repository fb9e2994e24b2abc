// Package workers does jobs in child processes.
//
// A simulated world takes the global random sources of its process for itself,
// so a process makes one run at a time; and what the code under test may do,
// a fatal error of the runtime or an endless loop, only the end of a process
// can contain. So the parent hands jobs to children, one child per core and one
// job at a time, each with GOMAXPROCS=1:
//
//	err := workers.Run(ctx, workers.Options{Command: command}, jobs, func(d workers.Done[Job, Answer]) {
//		…
//	})
//
// and the child, which is mostly the same program, answers:
//
//	err := workers.Serve(os.Stdin, os.Stdout, func(job Job, step func()) (Answer, error) {
//		…
//	})
//
// A child that dies under a job is replaced, and the job is tried once more. One
// that stays silent for too long is killed, by its process id. A child ends as
// soon as its standard input does, in the middle of a job too, so that none
// outlives its parent, however that ends.
//
// The two speak JSON, one value a line: the child first says that it is there,
// then the parent sends {"id":…,"job":…}, and the child answers with any number
// of {"id":…,"step":true} and one {"id":…,"result":…} or {"id":…,"error":…}.
//
// Nothing here is deterministic but the answers: jobs end in any order, and the
// limits run on the wall clock.
package workers
