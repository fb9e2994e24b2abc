package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// Section is what the user of a lock does under it: code of their own in place of the
// section of each scenario. The clients of every run do it in each round, under all
// faults, and the data is judged as that of any section.
type Section struct {
	// Writes are the registers that Run writes, in any order: all of them, or none.
	// They take effect together or the section is torn. Nil means that it only reads.
	Writes []string
	// Run does the section by the steps of the holder. ctx ends when the process crashes
	// or is asked to end, or the run is over, but not with the lease. An error ends the section, and
	// the client releases the lock, as it does after nil. Run must return then, or when a
	// step returns an error: a run waits for it as long as its virtual time lasts.
	Run func(ctx context.Context, h *Holder) error
}

func (s Section) validate() error {
	if s.Run == nil && s.Writes != nil {
		return errors.New("the Section has Writes and no Run: Run does the section")
	}
	for i, register := range s.Writes {
		switch {
		case !file.IsRegister(register):
			return fmt.Errorf("the Section writes %q, which cannot be a register: write a word of up to 32 of a-z, 0-9 and -, "+
				"such as stock", register)
		case slices.Contains(s.Writes[:i], register):
			return fmt.Errorf("the Section has %s twice in its Writes: it writes a register once", register)
		}
	}
	return nil
}

// Holder is a client that has the lock, in its section. Each step is an event at which
// faults may strike, as in the section of any scenario. After the first step that returns
// an error all others return the same error. The methods are for the goroutine of
// [Section.Run] alone.
//
// The store keeps a value in each register: the id of the last write, which the harness
// makes. A section reads a register before it writes it, reads it once and writes it once,
// writes none but [Section.Writes], and reads nothing after the last of them. A section
// that does otherwise is an error of the run, since its data could not be judged.
type Holder struct {
	client  *client
	grant   *grant
	writes  []string
	saw     map[string]string // by the register that it has read
	written []string          // as far as they were sent
	ended   error             // why it does nothing more
	crashed error             // the process has ended
}

// ErrSectionOver is returned by a step of a section that must end: a read or a write was
// not acknowledged, or the lease has ended.
var ErrSectionOver = errors.New("the section is over")

// over ends the section with a cause, or with the end of the process. It returns why the
// section has ended, or nil.
func (h *Holder) over(cause, crash error) error {
	if crash != nil && h.crashed == nil {
		h.crashed, cause = crash, crash
	}
	if h.ended == nil {
		h.ended = cause
	}
	return h.ended
}

// misuse ends the section, and the run with an error about the user's code.
func (h *Holder) misuse(format string, args ...any) error {
	return h.over(h.client.misused(format, args...), nil)
}

// Read reads a register: the id of the write that it finds, or "" for the initial value.
func (h *Holder) Read(register string) (value string, err error) {
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
	saw, ok, crash := h.client.read(h.grant, register)
	if h.done("read", register, ok, crash) == nil {
		h.saw[register] = saw
	}
	return saw, h.ended
}

// Write writes a register that the section has read, with a new value of the harness.
func (h *Holder) Write(register string) error {
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
	ok, crash := c.write(h.grant, register, saw)
	return h.done("write", register, ok, crash)
}

// done ends the section after an operation that was not acknowledged.
func (h *Holder) done(what, register string, ok bool, crash error) error {
	if ok || crash != nil {
		return h.over(nil, crash)
	}
	ops := h.grant.ops
	return h.over(fmt.Errorf("%w: the %s of %s: %s", ErrSectionOver, what, register, ops[len(ops)-1].Outcome), nil)
}

// Hold is how long a section of the scenario works. Searches draw it in proportion to the
// lease.
func (h *Holder) Hold() time.Duration { return h.client.play.sc.Workload.Hold }

// Work works for some time, and extends the lease meanwhile if the scenario says so. Its error is [ErrSectionOver] if
// the process is asked to end meanwhile. A client of a scenario that checks its lease does so afterwards.
func (h *Holder) Work(d time.Duration) error {
	if h.ended != nil {
		return h.ended
	}
	switch err := h.client.hold(h.grant, d); {
	case errors.Is(err, errAsked):
		return h.over(fmt.Errorf("%w: %w", ErrSectionOver, errAsked), nil)
	case err != nil:
		return h.over(nil, err)
	}
	over, crash := h.grant.leaseIsOver()
	return h.stands(over, crash)
}

// Check looks whether the lease has ended by the clock of the process, or the lock has
// reported its loss. Its error is [ErrSectionOver] then, and that is where the client
// ceases to believe in its lock. A section that looks at Lease().Until() by itself and
// stops is taken to believe until it has returned. Faults may strike at the points check,
// before the look, and checked, after one that found the lease to stand.
func (h *Holder) Check() error {
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
func (h *Holder) stands(over bool, crash error) error {
	if over && crash == nil {
		return h.over(fmt.Errorf("%w: the lease has ended", ErrSectionOver), nil)
	}
	return h.over(nil, crash)
}

// Lease is the lease under which the section runs.
func (h *Holder) Lease() lock.Lease { return h.grant.lease }

// Env is the environment of the process, as the lock has it.
func (h *Holder) Env() Env { return h.client.play.env(h.client.proc) }

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
