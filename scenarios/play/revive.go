package play

import (
	"slices"

	"locksim/faults"
)

// strikable is the world as faults see it: it knows, besides, what a client does
// when it comes back.
func (p *play) strikable() any {
	return faults.With(p.world.Faults(), reviver{p})
}

// reviver restarts clients with their work.
type reviver struct{ play *play }

// Restart implements faults.Restarter. A client begins its rounds anew, with
// nothing of what it knew; a server comes back with what it has kept.
func (r reviver) Restart(name string) error {
	p := r.play
	if slices.ContainsFunc(p.world.Clients(), func(m Machine) bool { return m.Name() == name }) {
		return p.revive(name)
	}
	return faults.Restart{Process: name}.Apply(p.world.Faults())
}

// revive starts the client of a process that has crashed once more.
func (p *play) revive(name string) error {
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
