package play

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// holder is a [subject.Holder].
type holder struct {
	client  *client
	grant   *grant
	writes  []string
	saw     map[string]string // by the register that it has read
	written []string          // as far as they were sent
	ended   error             // why it does nothing more
	crashed error             // the process has ended
}

// over ends the section with a cause, or with the end of the process. It returns why the
// section has ended, or nil.
func (h *holder) over(cause, crash error) error {
	if crash != nil && h.crashed == nil {
		h.crashed, cause = crash, crash
	}
	if h.ended == nil {
		h.ended = cause
	}
	return h.ended
}

// misuse ends the section, and the run with an error about the user's code.
func (h *holder) misuse(format string, args ...any) error {
	return h.over(h.client.misused(format, args...), nil)
}

func (h *holder) Read(register string) (value string, err error) {
	_, again := h.saw[register]
	switch {
	case h.ended != nil:
		return "", h.ended
	case !file.IsRegister(register):
		return "", h.misuse("reads %q, which cannot be a register: write a word of up to 32 of a-z, 0-9 and -, such as stock",
			register)
	case again:
		return "", h.misuse("reads %s twice: it reads a register once, and keeps the value", register)
	case len(h.writes) > 0 && len(h.written) == len(h.writes):
		return "", h.misuse("reads %s after its last write: it reads before it, or leaves the read out", register)
	}
	saw, ok, crash := h.grant.read(register)
	if h.done("read", register, ok, crash) == nil {
		h.saw[register] = saw
	}
	return saw, h.ended
}

func (h *holder) Write(register string) error {
	saw, read := h.saw[register]
	switch {
	case h.ended != nil:
		return h.ended
	case !slices.Contains(h.writes, register):
		return h.misuse("writes %s, which is not in its Writes: name there each register that it writes", register)
	case slices.Contains(h.written, register):
		return h.misuse("writes %s twice: it writes a register once", register)
	case !read:
		return h.misuse("writes %s and has not read it: what a write is based on is known only of a register that the "+
			"section has read", register)
	}
	c := h.client
	if len(h.written) == 0 && c.play.sc.Workload.Release == file.ReleaseEarly {
		if err := h.over(nil, h.grant.release()); err != nil {
			return err
		}
	}
	h.written = append(h.written, register)
	ok, crash := h.grant.write(register, saw)
	return h.done("write", register, ok, crash)
}

// done ends the section after an operation that was not acknowledged.
func (h *holder) done(what, register string, ok bool, crash error) error {
	if ok || crash != nil {
		return h.over(nil, crash)
	}
	ops := h.grant.ops
	return h.over(fmt.Errorf("%w: the %s of %s: %s", subject.ErrSectionOver, what, register, ops[len(ops)-1].Outcome), nil)
}

func (h *holder) Hold() time.Duration { return h.client.play.sc.Workload.Hold }

func (h *holder) Work(d time.Duration) error {
	if h.ended != nil {
		return h.ended
	}
	switch err := h.grant.hold(d); {
	case errors.Is(err, errAsked):
		return h.over(fmt.Errorf("%w: %w", subject.ErrSectionOver, errAsked), nil)
	case err != nil:
		return h.over(nil, err)
	}
	over, crash := h.grant.leaseIsOver()
	return h.stands(over, crash)
}

func (h *holder) Check() error {
	c, g := h.client, h.grant
	if h.ended != nil {
		return h.ended
	}
	if err := c.point("check"); err != nil {
		return h.over(nil, err)
	}
	if isOver(g.lease, c.proc.Clock().Now()) {
		n, err := c.proc.Mark(trace.Mark{Step: trace.UntilSeen})
		g.UntilSeen = n
		return h.stands(true, err)
	}
	if g.lossSeen.Load() {
		n, err := c.proc.Mark(trace.Mark{Step: trace.Point, Label: "over"})
		g.lossChecked = n
		return h.stands(true, err)
	}
	return h.over(nil, c.point("checked"))
}

// stands ends the section if the lease is over.
func (h *holder) stands(over bool, crash error) error {
	if over && crash == nil {
		return h.over(fmt.Errorf("%w: the lease has ended", subject.ErrSectionOver), nil)
	}
	return h.over(nil, crash)
}

func (h *holder) Lease() lock.Lease { return h.grant.lease }

func (h *holder) Env() subject.Env { return h.client.play.env(h.client.proc) }

// point passes a named point.
func (c *client) point(label string) error {
	_, err := c.proc.Mark(trace.Mark{Step: trace.Point, Label: label})
	return err
}

// misused keeps the first mistake in the section of a lock. Only the goroutine of the
// client calls it.
func (c *client) misused(format string, args ...any) error {
	return c.mistaken("the Section of lock %s, on %s, %s", c.play.lock.Name, c.proc.Name(), fmt.Sprintf(format, args...))
}

// mistaken keeps the first mistake in what the user says of the lock, as misused does.
func (c *client) mistaken(format string, args ...any) error {
	if c.misuse == nil {
		c.misuse = file.NewInputError(nil, faults.Pos{}, format, args...)
	}
	return c.misuse
}

// misuse is the first mistake that a client has met in what the user says of the lock, or nil.
func (p *play) misuse() error {
	for _, c := range p.clients {
		if c.misuse != nil {
			return c.misuse
		}
	}
	return nil
}

// registers are the registers that sections read and write, except nested ones. Those of
// the section of a lock are known when the clients have ended.
func (p *play) registers() []string {
	if p.lock.Section.Run == nil {
		return p.sc.Workload.Registers()
	}
	all := slices.Clone(p.lock.Section.Writes)
	for _, c := range p.clients {
		for _, g := range c.grants {
			for _, o := range g.ops {
				all = append(all, o.Register)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
