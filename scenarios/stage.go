package scenarios

import "locksim/sim"

// stage is the world as faults see it: it knows, besides, what a client does
// when it comes back.
type stage struct {
	*sim.World
	play *play
}

// Restart implements faults.Restarter. A client begins its rounds anew, with
// nothing of what it knew; a node comes back with what it has kept.
func (s stage) Restart(name string) error {
	for i := range s.Clients() {
		if s.Client(i).Name() == name {
			return s.play.revive(name)
		}
	}
	return s.World.Restart(name)
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
