package play

import (
	"errors"

	"locksim/checker"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/subject"
	"locksim/sim/redis"
)

// openData opens the data of the lock, if the scenario's is there.
func (c *client) openData() (err error) {
	p, where := c.play, c.play.sc.Workload.Data
	const path = "workload.data"
	switch d := p.lock.Data; {
	case p.lock.TestsFence():
		c.data, err = p.openFence(c.proc)
		return err
	case where == file.DataStore && (d == nil || !d.Alone):
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
func (p *play) openFence(m Machine) (s subject.Store, err error) {
	m.Do(func() { s, err = p.lock.Data.Open(p.env(m), p.mode) })
	return s, err
}

// storeOf is the store in which the holder of a lease works.
func (c *client) storeOf(l lock.Lease) subject.Store {
	if d := c.play.lock.Data; d != nil && (d.Alone || c.play.lock.TestsFence()) {
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

// inRedis says how the clients keep the data of the lock in a Redis server; nil if they do not.
func (l taught) inRedis() *redis.Protected {
	if l.Data == nil || l.Data.Redis == nil {
		return nil
	}
	return &redis.Protected{Of: l.Data.Redis.Of, Where: l.Data.Redis.Where}
}
