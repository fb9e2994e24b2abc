package faults

import "locksim/lock/promise"

// KillWorker ends the thread of a process that does the work of its critical
// section, at once and without a release. The process lives on, and so do its
// timers: a watchdog goes on renewing a lock under which no work is done (F36).
type KillWorker struct {
	// Process is whose worker dies: "c0".
	Process string
}

// WorkerKiller is a world whose processes have workers that can die alone.
type WorkerKiller interface {
	// KillWorker ends the worker of the process now, wherever it is. It returns
	// an error when there is no such process.
	KillWorker(process string) error
}

// Kind is "kill_worker".
func (KillWorker) Kind() string { return "kill_worker" }

func (k *KillWorker) form() Form {
	return Form{
		Text:   "the working thread of a process dies, and its timers live on",
		Class:  promise.Worker,
		Fields: []Field{{"process", Name{To: &k.Process, Role: Clients}, "whose worker dies"}},
	}
}

// Apply asks a WorkerKiller for it.
func (k KillWorker) Apply(world any) error {
	return ask(k, world, func(w WorkerKiller) error { return w.KillWorker(k.Process) })
}

// String is "kill the worker of c0".
func (k KillWorker) String() string { return "kill the worker of " + k.Process }
