// Package workers executes jobs in child processes.
//
// A simulated world uses the global random sources of its process, so a process makes
// one run at a time. And the code under test can cause a fatal error of the runtime or
// loop without end, which only the end of its process stops. So the parent sends jobs
// to child processes, one child per core and one job at a time, each with GOMAXPROCS=1:
//
//	err := workers.Run(ctx, workers.Options{Command: command}, jobs, func(d workers.Done[Job, Answer]) {
//		…
//	})
//
// and the child, which is usually the same program, answers:
//
//	err := workers.Serve(os.Stdin, os.Stdout, func(job Job, step func()) (Answer, error) {
//		…
//	})
//
// A child that exits during a job is replaced, and the job is tried once more. One that
// sends nothing for too long is killed, by its process id. A child ends as soon as its
// standard input ends, also during a job, so that no child outlives its parent, however
// the parent ends.
//
// The messages are JSON, one value a line: the child first sends {"ready":…}, then the
// parent sends {"id":…,"job":…}, and the child answers with any number of
// {"id":…,"step":true} and one {"id":…,"result":…} or {"id":…,"error":…}.
//
// Only the answers are deterministic: jobs end in any order, and the limits are on the
// wall clock.
package workers
