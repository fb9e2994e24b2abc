package sim

import "locksim/faults"

// Crash ends a process for good: its goroutines get [ErrCrashed] at every
// seam, so that no deferred code of it touches the world. With
// faults.CrashProcess the operating system closes its sockets, with
// faults.CrashPower its peers hear nothing. A Redis node crashes likewise: it
// loses its memory, blocked clients and subscriptions, and dials to it are
// refused, or wait while the machine has no power. [World.Restart] brings it
// back. Who has crashed already stays as it is.
func (w *World) Crash(process string, mode faults.CrashMode) error {
	if n, err := w.Node(process); err == nil {
		n.crash(mode)
		return nil
	}
	p, err := w.Process(process)
	if err != nil {
		return err
	}
	if p.Crashed() {
		return nil
	}
	w.record("world", "crash", p.name, string(mode))
	p.gate.crash()
	p.cancel()
	p.dropSockets(mode)
	return nil
}

func (p *Process) dropSockets(mode faults.CrashMode) {
	p.mu.Lock()
	conns := p.conns
	p.mu.Unlock()
	for _, c := range conns {
		if mode == faults.CrashPower {
			c.c.silent = true
			c.wake()
			continue
		}
		c.abort()
	}
}

// abort closes the process's end without passing its gate.
func (c *Conn) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed, c.in = true, nil
		c.finish()
	}
	c.cond.Broadcast()
}
