package play

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/sim/trace"
)

// fencedRegister is the register of a store under test with late sections: it has one for each resource.
const fencedRegister = "value"

// TestsFence reports whether the store is what is under test: see [Data].Fence.
func (l Lock) TestsFence() bool { return l.Data != nil && l.Data.Fence != "" }

// Fence is the name of the store under test, as a scenario has it in store; "" for a lock that works on s0.
func (l Lock) Fence() string {
	if l.Data == nil {
		return ""
	}
	return l.Data.Fence
}

// Ledger is the name, in lock.kind of a scenario with a store under test, of the lock that comes with each fence: one
// that is right, with known tokens.
const Ledger = "ledger"

// Kind is the name of the lock as a scenario has it in lock.kind.
func (l Lock) Kind() string {
	if l.TestsFence() && l.Data.Ledger {
		return Ledger
	}
	return cmp.Or(l.kind, l.Name)
}

// Fenced is the store of f, a lock that tests one, under test with the lock l, which mints the tokens. It promises what
// both do. A lock that mints none, or promises nothing, is an error: what the store did wrong could be the lock's.
func (l Lock) Fenced(f Lock) (Lock, error) {
	switch {
	case !f.TestsFence():
		return Lock{}, fmt.Errorf("%s is a lock, and no store that is under test", f.Name)
	case l.TestsFence():
		return Lock{}, fmt.Errorf("%s is a store, and mints no tokens for %s: name a lock", l.Name, f.Name)
	case !l.Tokens:
		return Lock{}, fmt.Errorf("lock %s mints no tokens, by which the fence %s refuses: choose one that does, such as "+
			"fenced", l.Name, f.Name)
	case l.Promise.TokensUnordered && f.Data.Rule != fence.Strict:
		return Lock{}, fmt.Errorf("the fence %s has the rule %s, which needs tokens that grow, and lock %s promises no "+
			"order of its tokens: choose another lock, or the rule strict", f.Name, f.Data.Rule, l.Name)
	}
	l.Promise = lock.Promise{Exclusion: both(l.Promise.Exclusion, f.Promise.Exclusion), Data: f.Promise.Data,
		FreeWithin: lock.TermAnyTime, TokensUnordered: l.Promise.TokensUnordered, SelfExcludes: true}
	if len(l.Promise.Exclusion) == 0 {
		return Lock{}, fmt.Errorf("there is no fault under which both lock %s and the fence %s promise to be right", l.Name,
			f.Name)
	}
	l.votes = l.voters()
	l.kind, l.Name = l.Kind(), l.Name+"+"+f.Name
	data := *f.Data
	data.Ledger = false
	l.Data, l.About = &data, f.About
	l.Replicas = max(l.Replicas, f.Replicas)
	servers := slices.Clone(l.Needs())
	for _, s := range f.Servers {
		i := slices.IndexFunc(servers, func(own Servers) bool { return own.Kind.Name == s.Kind.Name })
		switch {
		case s.Kind.Beside:
		case i < 0:
			s.Kind.Beside = true // the lock does not ask them
			servers = append(servers, s)
		default:
			servers[i].Count = max(servers[i].Count, s.Count)
		}
	}
	l.Servers = servers
	return l, nil
}

// both are the faults of the first list that are in the second one.
func both(a, b []lock.Fault) []lock.Fault {
	return slices.DeleteFunc(slices.Clone(a), func(f lock.Fault) bool { return !slices.Contains(b, f) })
}

// Fences are those of extra whose store is under test. The caller owns the slice.
func Fences(extra []Lock) []Lock {
	return slices.DeleteFunc(slices.Clone(extra), func(l Lock) bool { return !l.TestsFence() })
}

// FindSubject is what plays a scenario: the lock of that kind, with the store of that name under test, or "" for s0.
// The error is an [ErrUnknownLock], or that of [Lock.Fenced].
func FindSubject(kind, store string, extra []Lock) (Lock, error) {
	if store == "" {
		return FindLock(kind, extra)
	}
	fences := Fences(extra)
	i := slices.IndexFunc(fences, func(f Lock) bool { return f.Fence() == store })
	if i < 0 {
		return Lock{}, &UnknownFenceError{store, fences}
	}
	if kind == Ledger {
		return FindLock(fences[i].Name, extra)
	}
	l, err := FindLock(kind, extra)
	if err != nil || l.Fence() == store {
		return l, err
	}
	return l.Fenced(fences[i])
}

// UnknownFenceError is that of a store under test that the program does not have. It is an [ErrUnknownLock].
type UnknownFenceError struct {
	name   string
	fences []Lock
}

// Error is "there is no fence", the name, and those that there are.
func (e *UnknownFenceError) Error() string {
	var names []string
	for _, f := range e.fences {
		names = append(names, f.Fence())
	}
	return fmt.Sprintf("there is no fence %q: %s", e.name, prose.Choose(e.name, names))
}

// Unwrap makes it an [ErrUnknownLock].
func (e *UnknownFenceError) Unwrap() error { return ErrUnknownLock }

// fencedBy is the lock of a name that has another lock and a store of extra under test, as [Lock.Fenced] has named it;
// ok is false for another name.
func fencedBy(name string, extra []Lock) (l Lock, ok bool, err error) {
	for _, f := range Fences(extra) {
		if kind, fits := strings.CutSuffix(name, "+"+f.Name); fits {
			l, err = FindSubject(kind, f.Fence(), extra)
			return l, true, err
		}
	}
	return Lock{}, false, nil
}

// MisuseError is returned by the Do of a [Data] under test for an answer that no store may give: the run ends with
// it.
type MisuseError struct {
	// What says what the store did, as the end of a sentence about it.
	What string
}

// Error is what the store did.
func (e *MisuseError) Error() string { return e.What }

// tryFence is a section of [file.WorkloadLate].
func (c *client) tryFence(g *grant) error {
	if c.dice.IntN(4) > 0 {
		if _, _, err := c.read(g, fencedRegister); err != nil {
			return err
		}
	}
	if err := c.pass(c.lateness(g)); errors.Is(err, errAsked) {
		return nil
	} else if err != nil {
		return err
	}
	if c.dice.IntN(8) == 0 {
		if err := g.release(); err != nil {
			return err
		}
	}
	for range 1 + c.dice.IntN(3) {
		op := c.newOp(g, checker.Write, fencedRegister)
		ok, err := c.send(g, op)
		again := g.ops[len(g.ops)-1].Outcome == checker.OutcomeUnknown && c.dice.IntN(2) == 0 || ok && c.dice.IntN(4) == 0
		if err == nil && again {
			retry := c.newOp(g, checker.Write, fencedRegister)
			retry.Again = op.ID
			_, err = c.send(g, retry)
		}
		if err != nil {
			return err
		}
		if err := c.pass(c.upTo(20 * time.Millisecond)); err != nil {
			return nil //nolint:nilerr // the process was asked to end
		}
	}
	return nil
}

// lateness draws how long a client waits before it writes: not at all, for a part of its lease, to about the end of
// it, when another client gets the lock, or for up to a TTL more.
func (c *client) lateness(g *grant) time.Duration {
	left := max(g.lease.Until().Sub(c.proc.Clock().Now()), 0)
	switch c.dice.IntN(6) {
	case 0, 1:
		return 0
	case 2:
		return c.upTo(c.play.sc.Workload.Hold)
	case 3:
		return left + c.upTo(20*time.Millisecond)
	}
	return left + c.upTo(c.play.sc.Lock.TTL)
}

// misanswered keeps what a store under test did that no store may do.
func (c *client) misanswered(cause error) {
	if wrong, ok := errors.AsType[*MisuseError](cause); ok {
		_ = c.mistaken("the fence %s, on %s, %s", c.play.lock.Name, c.proc.Name(), wrong.What)
	}
}

// readAll reads what a store under test has in the end, under a lease of the probe.
func (p *play) readAll(proc Machine, store Store, resource string, l lock.Lease) error {
	registers := []string{fencedRegister}
	if !p.sc.Workload.TriesFence() {
		registers = p.registers()
	}
	for _, register := range registers {
		if err := p.readLast(proc, store, resource, register, l.Token()); err != nil {
			return err
		}
	}
	return nil
}

func (p *play) readLast(proc Machine, store Store, resource, register string, token uint64) error {
	id := fmt.Sprintf("%s.r%d", trace.Probe, len(p.last)+1)
	op := checker.Op{ID: id, Client: trace.Probe, Kind: checker.Read, Resource: resource, Register: register, Token: token}
	var err error
	if op.Invoked, err = proc.Mark(trace.Mark{Step: trace.Reading, Op: id}); err != nil {
		return err
	}
	var cause error
	op.Saw, op.Outcome, cause = store.Do(proc.Context(), op, id)
	m := trace.Mark{Step: trace.Read, Op: id, Saw: op.Saw}
	if cause != nil {
		m.Outcome, m.Problem = string(op.Outcome), cause.Error()
	}
	n, err := proc.Mark(m)
	if err == nil && op.Outcome != checker.OutcomeUnknown {
		op.Returned = n
	}
	p.last = append(p.last, op)
	return err
}
