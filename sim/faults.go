package sim

import (
	"fmt"
	"slices"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// Faults applies faults to a world: it has all abilities that the actions of
// package faults ask for. Its methods take names of processes and servers; an
// unknown name is an error, and so is a server without the ability that a fault
// needs. They are for the world's goroutine.
type Faults struct {
	w    *World
	felt func() // see [Faults.WhenFelt]
}

// record adds what is done to a process or server.
func (f *Faults) record(whom string, what trace.What) { f.w.trace.record(trace.World, whom, what) }

// Pause stops the process for d, as a garbage collection, a migration of its
// machine or SIGSTOP would: none of its goroutines passes a seam until then.
// When it resumes, the goroutines that were held are released at distinct
// instants drawn from the seed, so that any of them may run first. Pauses may
// overlap: the process resumes when the last of them ends.
func (f *Faults) Pause(process string, d time.Duration) error {
	p, err := f.w.Process(process)
	if err != nil {
		return err
	}
	if d <= 0 {
		return fmt.Errorf("pause %s for %v: a pause lasts more than 0s", process, d)
	}
	if p.Crashed() {
		return nil // nothing left to stop
	}
	f.record(p.name, trace.Pause{For: d})
	end := p.gate.pause(f.felt)
	f.w.time.queue.add(f.w.time.now()+int64(d), func() { p.resume(end, trace.Resume{}) })
	return nil
}

// Suspend stops the machine of a process for d: none of its goroutines passes a seam until
// then, as in [Faults.Pause], and its monotonic clock stands still. The wall clock has
// counted on when it wakes. A process that is started on the machine meanwhile has that
// clock too.
//
// Timers of the Go runtime run on the world's time: those of third-party locks, of
// contexts, and the deadlines of sockets.
func (f *Faults) Suspend(process string, d time.Duration) error {
	p, err := f.w.Process(process)
	if err != nil {
		return err
	}
	if d <= 0 {
		return fmt.Errorf("suspend %s for %v: a machine sleeps for more than 0s", process, d)
	}
	if p.Crashed() {
		return nil // nothing left to stop
	}
	f.record(p.name, trace.Suspend{For: d})
	end := p.gate.pause(f.felt)
	p.clock.sleep(f.w.time.elapsed())
	p.timers.planAll()
	p.whenClockUsed(false, f.felt)
	f.w.time.queue.add(f.w.time.now()+int64(d), func() {
		p.clock.wake(f.w.time.elapsed())
		f.w.procs.byName[process].timers.planAll()
		p.resume(end, trace.Wake{})
	})
	return nil
}

// Crash ends a process: its goroutines get [ErrCrashed] at every seam, so that
// no deferred code of it affects the world. With faults.CrashProcess the
// operating system closes its sockets, with faults.CrashPower its peers receive
// nothing. A server crashes likewise: its sessions end, and dials to it are
// refused, or wait while the machine has no power; [Crasher] decides what else
// it loses. [Faults.Restart] starts it again. A second crash has no effect.
//
// Of a name that another server may take over, such as that of a leader, the present server crashes, and Restart of
// that name starts the same one.
func (f *Faults) Crash(name string, mode faults.CrashMode) error {
	if n, err := f.w.Node(name); err == nil {
		if a, ok := f.w.net.hosts[name].(*alias); ok {
			a.crashed = n
		}
		f.crashServer(n, mode)
		return nil
	}
	p, err := f.w.Process(name)
	if err != nil {
		return err
	}
	if p.Crashed() {
		return nil
	}
	f.end(p, trace.Crash{Mode: string(mode)}, mode)
	return nil
}

// end ends a process that has not ended yet. how is what the trace calls it, and mode what its
// peers notice.
func (f *Faults) end(p *Process, how trace.Crash, mode faults.CrashMode) {
	if p.Crashed() {
		return
	}
	f.record(p.name, how)
	if f.w.onEnd != nil { // before any of its code can go on
		f.w.onEnd(p.name, p.incarnation)
	}
	p.forgotten, f.w.procs.crashed = f.w.time.elapsed()+remembered, true
	f.w.At(p.forgotten, func() {}) // the world may become idle then
	p.gate.crash(f.felt)
	p.cancel()
	p.sockets.crash(mode)
}

// Terminate asks a process to end, as SIGTERM does: its [Process.Notice] ends. When it calls
// [Process.Exit], or has no goroutine of [Process.Go] left, it ends. After the grace it is
// killed as by [Faults.Crash] with faults.CrashProcess.
//
// The fault is felt if a goroutine of the process had not ended.
func (f *Faults) Terminate(process string, grace time.Duration) error {
	p, err := f.w.Process(process)
	if err != nil {
		return err
	}
	if grace <= 0 {
		return fmt.Errorf("ask %s to end within %v: a grace is longer than 0s", process, grace)
	}
	if p.Crashed() {
		return nil // nothing left to end
	}
	f.record(p.name, trace.Terminate{Grace: grace})
	q, now := f.w.time.queue, f.w.time.now()
	if p.running.Load() == 0 {
		p.Do(p.notify)
		q.add(now+1, func() { f.end(p, trace.Crash{Mode: trace.Exit}, faults.CrashProcess) })
		return nil
	}
	f.felt()
	q.add(now+1, func() { p.Do(p.notify) }) // at an instant of its own
	q.add(now+int64(grace), func() { f.end(p, trace.Crash{Mode: trace.Kill}, faults.CrashProcess) })
	return nil
}

// Restart starts a crashed server again with what it has kept, see [Restarter];
// an old connection is reset when the client sends on it. A crashed process is
// started again as by [Faults.Revive], but no workload runs on it. A server or
// process that has not crashed is an error.
func (f *Faults) Restart(name string) error {
	n, err := f.w.Node(name)
	if err != nil {
		_, err = f.Revive(name)
		return err
	}
	if a, ok := f.w.net.hosts[name].(*alias); ok && a.crashed != nil {
		n, a.crashed = a.crashed, nil
	}
	if !n.Down() {
		return fmt.Errorf("%s %w", name, faults.ErrRuns)
	}
	f.restartServer(n)
	return nil
}

// Revive starts a crashed process again: a new one of the same name, on the
// same machine. Its memory, its sockets and its random streams are new; its
// links are the old ones, and its clock has kept running. The name now refers
// to the new process. The old one stays crashed, and its goroutines still get
// [ErrCrashed]. A process that has not crashed is an error.
func (f *Faults) Revive(process string) (*Process, error) {
	old, err := f.w.Process(process)
	if err != nil {
		return nil, err
	}
	if !old.Crashed() {
		return nil, fmt.Errorf("%s %w", process, faults.ErrRuns)
	}
	f.record(process, trace.Restart{})
	return f.w.procs.replace(old), nil
}

// KillWorker ends only the thread that does a process's work (F36): from now on
// every mark and point returns [ErrWorkerDead], at which a workload ends
// without releasing anything. An operation between two marks still completes.
// Timers, watchdogs and sockets of the process go on. Only a restart starts a
// new worker.
func (f *Faults) KillWorker(process string) error {
	p, err := f.w.Process(process)
	if err != nil {
		return err
	}
	if p.Crashed() || p.workerDead.Load() != nil {
		return nil // there is no worker left
	}
	f.record(p.name, trace.KillWorker{})
	p.workerDead.Store(&effect{f.felt})
	return nil
}

// Slow makes the timers of a process late, as on a machine whose processors are
// busy (F37): every timer of [Clock.Sleep] or [Clock.AfterFunc] that comes due
// while the fault is in force fires later by that much, even if the fault has
// ended by then. It is in force for d, or until [World.Heal] where d is 0.
// Overlapping faults add up.
//
// Timers of the Go runtime run on the world's time and are not late: those of
// third-party locks, of contexts, and the deadlines of sockets.
func (f *Faults) Slow(process string, by, d time.Duration) error {
	p, err := f.w.Process(process)
	if err != nil {
		return err
	}
	if by <= 0 {
		return fmt.Errorf("slow %s by %v: a timer is late by more than 0s", process, by)
	}
	if err := checkLength("slow "+process, d); err != nil {
		return err
	}
	if p.Crashed() {
		return nil // it has no timers left
	}
	f.record(p.name, trace.Slow{By: by, For: d})
	p.timers.lag += by
	end := p.timers.lags.begin(f.felt)
	f.w.force.endAfter(d, func() {
		p.timers.lag -= by
		end()
		f.record(p.name, trace.SlowEnd{})
	})
	return nil
}

// JumpClock moves the wall clock of a process or of a server, back where d is
// negative (F18, F19, F21). Monotonic time is unaffected.
func (f *Faults) JumpClock(name string, d time.Duration) error {
	m, err := f.machine(name)
	if err != nil {
		return err
	}
	m.jumpClock(d)
	m.whenClockUsed(true, f.felt)
	return nil
}

// DriftClock makes both clocks of a process or of a server run faster by that
// many parts per million, slower where ppm is negative (F20); at -1,000,000
// they stand still. They run at their own rate again after d, or at
// [World.Heal] where d is 0. A second drift of the same clock replaces the
// first. A rate below -1,000,000 or above 9,000,000 is an error.
func (f *Faults) DriftClock(name string, ppm int64, d time.Duration) error {
	m, err := f.machine(name)
	if err != nil {
		return err
	}
	if ppm < minDrift || ppm > maxDrift {
		return fmt.Errorf("drift of %s by %d ppm: give %d (it stands still) to %d", name, ppm, minDrift, maxDrift)
	}
	if err := checkLength("drift of "+name, d); err != nil {
		return err
	}
	drifts := f.w.force.drifts
	if before := drifts[name]; before != nil {
		before.cancel()
		delete(drifts, name)
	}
	m.driftClock(ppm)
	if ppm != 0 {
		m.whenClockUsed(false, f.felt)
		drifts[name] = f.w.force.endAfter(d, func() {
			delete(drifts, name)
			if m, err := f.machine(name); err == nil { // its owner may have crashed and restarted since
				m.driftClock(0)
			}
		})
	}
	return nil
}

// machine has a clock: a process or a server.
type machine interface {
	jumpClock(d time.Duration)
	driftClock(ppm int64)
	whenClockUsed(wall bool, felt func())
}

func (f *Faults) machine(name string) (machine, error) {
	if p := f.w.procs.byName[name]; p != nil {
		return p, nil
	}
	if n, err := f.w.Node(name); err == nil {
		return n, nil
	}
	return nil, fmt.Errorf("%q has no clock in this world: give a client such as c0, or a server such as r0", name)
}

// Refuse makes a server refuse new connections with ECONNREFUSED, for d or
// until [World.Heal] where d is 0. Existing connections are unaffected.
func (f *Faults) Refuse(server string, d time.Duration) error {
	n, err := f.w.Node(server)
	if err != nil {
		return err
	}
	if err := checkLength("refusal of "+server, d); err != nil {
		return err
	}
	n.Strike(trace.Refuse{For: d})
	end := f.w.force.refusalsOf(n).begin(f.felt)
	f.w.force.endAfter(d, func() {
		end()
		n.Strike(trace.RefuseEnd{})
	})
	return nil
}

// Stall keeps a server from serving any request, as a slow command does on a
// single-threaded one: for d, or until [World.Heal] where d is 0. Connections
// are still accepted, since the operating system does that, and requests wait;
// when the stall is over they are served in the order of their arrival, by a
// [ClientsFirst] before what other servers have sent. The
// server's clock goes on. Stalls may overlap: the server serves when the last
// of them is over.
func (f *Faults) Stall(server string, d time.Duration) error {
	n, err := f.w.Node(server)
	if err != nil {
		return err
	}
	if err := checkLength("stall of "+server, d); err != nil {
		return err
	}
	n.disturb()
	n.Strike(trace.Stall{For: d})
	force := f.w.force
	s := force.stallOf(n)
	end := s.stalls.begin(f.felt)
	force.endAfter(d, func() {
		if end(); len(s.stalls) > 0 || force.stalls[n] != s {
			return
		}
		delete(force.stalls, n)
		n.Strike(trace.StallEnd{})
		s.serve()
		n.disturb()
	})
	return nil
}

// unable is the error for a server that lacks an ability.
func unable(n *Node, what string) error {
	return fmt.Errorf("%s cannot %s: %w", n.id, what, faults.ErrNoAbility)
}

// Promote makes a server the leader of its group: see [Promoter]. The default
// is faults.FirstReplica.
func (f *Faults) Promote(failover faults.Failover) error {
	to := failover.To
	if to == "" {
		to = faults.FirstReplica
	}
	n, err := f.w.Node(to)
	if err != nil {
		return fmt.Errorf("fail over: %w", err)
	}
	p, ok := n.server.(Promoter)
	if !ok {
		return fmt.Errorf("fail over: %w", unable(n, "take over"))
	}
	for _, c := range failover.Clients {
		if _, err := f.w.Process(c); err != nil {
			return fmt.Errorf("fail over: %w", err)
		}
	}
	f.w.force.replaced = f.felt
	defer func() { f.w.force.replaced = nil }()
	if err := p.Promote(failover); err != nil {
		return fmt.Errorf("fail over: %w", err)
	}
	n.used.begin(f.felt)
	return nil
}

// Program implements [faults.Programs].
func (f *Faults) Program(server string) (program any, felt func(), err error) {
	n, err := f.w.Node(server)
	if err != nil {
		return nil, nil, err
	}
	return n.server, f.felt, nil
}

// RefuseWrites makes a server refuse every write for d, or until [World.Heal]
// where d is 0, as a wrong configuration does: see [WriteRefuser]. These faults
// may overlap.
func (f *Faults) RefuseWrites(server string, d time.Duration) error {
	n, err := f.w.Node(server)
	if err != nil {
		return err
	}
	if err := checkLength("refusal of writes by "+server, d); err != nil {
		return err
	}
	r, ok := n.server.(WriteRefuser)
	if !ok {
		return unable(n, "refuse writes")
	}
	n.Strike(trace.ReadOnly{For: d})
	readOnly := f.w.force.readOnlyOf(n)
	end := readOnly.begin(f.felt)
	if len(*readOnly) == 1 {
		r.RefuseWrites(readOnly.felt)
	}
	f.w.force.endAfter(d, func() {
		if end(); len(*readOnly) == 0 {
			if r, ok := n.server.(WriteRefuser); ok {
				r.RefuseWrites(nil)
			}
		}
		n.Strike(trace.ReadOnlyEnd{})
	})
	return nil
}

// ReplyError makes a server answer requests with an error, and not carry them out: so many, all where
// count is 0, for d at most, or until [World.Heal] where d is 0. The server says which errors it can
// give: see [ErrorReplier]. Of several such faults with one error the first counts a request.
func (f *Faults) ReplyError(server string, answer faults.ReplyError, count int, d time.Duration) error {
	n, err := f.w.Node(server)
	if err != nil {
		return err
	}
	if err := checkLength("error replies of "+server, d); err != nil {
		return err
	}
	if count < 0 {
		return fmt.Errorf("error replies of %s to %d requests: give a number, or 0 for all", server, count)
	}
	r, ok := n.server.(ErrorReplier)
	if !ok {
		return unable(n, "answer with an error")
	}
	if !slices.Contains(r.ReplyErrors(), answer) {
		return unable(n, "answer with the error "+string(answer))
	}
	n.Strike(trace.ErrorReply{Error: string(answer), Count: count, For: d})
	e, all := &errorReply{answer: answer, left: count, felt: f.felt}, f.w.force.errors
	e.end = f.w.force.endAfter(d, func() {
		all[n] = slices.DeleteFunc(slices.Clone(all[n]), func(x *errorReply) bool { return x == e })
		n.Strike(trace.ErrorReplyEnd{Error: string(answer)})
	})
	all[n] = append(all[n], e)
	return nil
}
