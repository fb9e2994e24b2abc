package play

import (
	"errors"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
)

// Data is protected data in the servers of a lock, for scenarios whose data is not in the store s0.
//
// The trace has a [trace.Decision] of a server for each operation that has taken effect or was refused, as that of the
// store.
type Data struct {
	// Fence is the name of a store that is itself under test, in place of s0, as a scenario has it in store; and "" for
	// data that is assumed to be right. The store is judged by its answers alone ([checker.History].Fence), and the lock
	// has no other part in it than to mint the tokens.
	Fence string
	// Rule is the rule by which that store refuses: check, seal or strict.
	Rule fence.Mode
	// Ledger says that the lock beside it is the one that comes with each fence: see [Ledger].
	Ledger bool
	// Open is the access of a client to the data, behind a fence.
	Open func(e Env, mode fence.Mode) (Store, error)
	// Within works in the transaction that has the lock, without a fence: what is written there takes effect when Release
	// returns nil. s is what Open has returned. Nil is for a lock without a transaction. Searches let the holders work
	// there if the lock promises right data in mode none.
	Within func(s Store, l lock.Lease) Store
}

// WorksWithin reports whether the lock promises that the data is right without a fence, and has the transaction in
// which it is: a search then lets the holders work there.
func (l Lock) WorksWithin() bool {
	return l.Data != nil && l.Data.Within != nil && l.Promise.Data == string(fence.None)
}

// openData opens the data of the lock, if the scenario's is there.
func (c *client) openData() (err error) {
	p, where := c.play, c.play.sc.Workload.Data
	const path = "workload.data"
	switch d := p.lock.Data; {
	case p.lock.TestsFence():
		c.data, err = p.openFence(c.proc)
		return err
	case where == file.DataStore:
		return nil
	case d == nil:
		return p.sc.ErrorAt(p.sc.Pos(path), "%s: lock %s has no data in its servers: leave this out", path, p.lock.Name)
	case where == file.DataTransaction && d.Within == nil:
		return p.sc.ErrorAt(p.sc.Pos(path), "%s: lock %s has no transaction: make it %s, or leave this out", path,
			p.lock.Name, file.DataDatabase)
	default:
		c.data, err = p.openFence(c.proc)
		return err
	}
}

// openFence opens the data of the lock on a machine.
func (p *play) openFence(m Machine) (s Store, err error) {
	m.Do(func() { s, err = p.lock.Data.Open(p.env(m), p.mode) })
	return s, err
}

// storeOf is the store in which the holder of a lease works.
func (c *client) storeOf(l lock.Lease) Store {
	if c.play.lock.TestsFence() {
		return c.data
	}
	switch c.play.sc.Workload.Data {
	case file.DataDatabase:
		return c.data
	case file.DataTransaction:
		return c.play.lock.Data.Within(c.data, l)
	}
	return c.proc.Store()
}

// await takes back that a write was acknowledged: only the release tells whether it takes effect.
func (g *grant) await(i int) {
	g.ops[i].Outcome, g.ops[i].Returned = checker.OutcomeUnknown, 0
	g.pending = append(g.pending, i)
}

// settle gives the writes that wait for the release the outcome of that.
func (g *grant) settle(cause error) {
	for _, i := range g.pending {
		switch op := &g.ops[i]; {
		case cause == nil:
			op.Outcome, op.Returned = checker.OutcomeOK, g.ReleaseReturned
		case errors.Is(cause, lock.ErrNotHeld):
			op.Outcome = checker.OutcomeFailed
		}
	}
	g.pending = nil
}
