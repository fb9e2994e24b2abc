package play

import (
	"slices"

	"locksim/faults"
)

// faultTarget is the world as faults see it, in which a restarted client also works
// again. felt is called when a fault that is applied to it is felt.
func (p *play) faultTarget(felt func()) any {
	return faults.With(p.world.Faults(felt), restarter{p, felt})
}

// restarter restarts clients with their work.
type restarter struct {
	play *play
	felt func()
}

// Restart implements faults.Restarter. A client begins its rounds again, without
// its former state; a server restarts with the data that it has kept.
func (r restarter) Restart(name string) error {
	p := r.play
	if slices.ContainsFunc(p.world.Clients(), func(m Machine) bool { return m.Name() == name }) {
		r.felt()
		return p.restart(name)
	}
	return faults.Restart{Process: name}.Apply(p.world.Faults(r.felt))
}

// restart starts a new client for a process that has crashed.
func (p *play) restart(name string) error {
	proc, err := p.world.Revive(name)
	if err != nil {
		return err
	}
	c, err := newClient(p, proc, 0)
	if err != nil {
		return p.noLock(name, err)
	}
	c.start = 0
	for _, before := range p.clients {
		if before.proc.Name() == name {
			c.granted, c.ops = before.granted, before.ops
		}
	}
	p.clients = append(p.clients, c)
	proc.Go(c.work)
	return nil
}
