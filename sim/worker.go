package sim

import "errors"

// ErrWorkerDead is returned by [Process.Mark] and [Process.Point] when the
// worker of the process is dead: see [World.KillWorker].
var ErrWorkerDead = errors.New("the worker of the process is dead")

// KillWorker ends the thread that does a process's work, and nothing else of it
// (F36): from now on every mark and point that it would pass returns
// [ErrWorkerDead], at which a workload ends without releasing anything. What it
// was doing between two marks it does to the end. Timers, watchdogs and sockets
// of the process live on. Only a restart brings the worker back.
func (w *World) KillWorker(process string) error {
	p, err := w.Process(process)
	if err != nil {
		return err
	}
	if p.Crashed() || p.workerDead.Load() {
		return nil // nobody left to kill
	}
	w.record("world", "kill-worker", p.name, "")
	p.workerDead.Store(true)
	return nil
}

// alive returns the error of a dead worker.
func (p *Process) alive() error {
	if p.workerDead.Load() {
		return ErrWorkerDead
	}
	return nil
}
