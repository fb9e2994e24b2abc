package file

import (
	"fmt"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/scenarios/kinds"
)

// role is one sort of participants, by their names.
type role struct {
	title string
	names []string
}

func (s checked) clients() role { return role{"clients", Numbered("c", s.World.Clients)} }

func (s checked) redis() role { return role{"Redis nodes", Numbered("r", s.redisNodes())} }

// replicas are r0a, r0b, …
func (s checked) replicas() role {
	names := make([]string, max(s.World.Replicas, 0))
	for i := range names {
		names[i] = fmt.Sprintf("r0%c", 'a'+i)
	}
	return role{"replicas", names}
}

// others are the servers of other kinds.
func (s checked) others() []role {
	var all []role
	for _, c := range s.World.Servers {
		all = append(all, role{c.Kind + " servers", Numbered(c.Prefix, c.Count)})
	}
	return all
}

// servers are all servers but the store.
func (s checked) servers() []role { return append([]role{s.redis(), s.replicas()}, s.others()...) }

func (s checked) store() role { return role{"store", []string{"s0"}} }

// redisNodes is how many Redis nodes there are whichever lock of the scenario is
// under test: a lock that needs more than world.redis gets them. How many
// somebody else's lock needs is not known here.
func (s checked) redisNodes() int {
	if s.World.Redis == 0 {
		return 0
	}
	least := MaxRedis
	for _, name := range s.LockNames() {
		if k, err := kinds.Find(name); err == nil {
			least = min(least, max(s.World.Redis, k.Redis))
		}
	}
	return least
}

// validateNames checks that the world has whom the fault is about.
func (s checked) validateNames(f faults.Fault) error {
	if f.When != nil {
		if err := s.client("when.client", f.When.Client); err != nil {
			return err
		}
	}
	return first(s.validateProcess(f.Action), s.validateSides(f.Action), s.validateNode(f.Action))
}

// validateProcess is validateNames for what strikes a process or its clock.
func (s checked) validateProcess(action faults.Action) error {
	switch a := action.(type) {
	case faults.Pause:
		return s.client("pause.process", a.Process)
	case faults.Crash:
		return known("crash.process", a.Process, s.with(s.clients())...)
	case faults.Restart:
		return known("restart.process", a.Process, s.with(s.clients())...)
	case faults.Slow:
		return s.client("slow.process", a.Process)
	case faults.KillWorker:
		return s.client("kill_worker.process", a.Process)
	case faults.ExhaustPool:
		return s.client("exhaust_pool.process", a.Process)
	case faults.ClockJump:
		return known("clock_jump.clock", a.Clock, s.with(s.clients())...)
	case faults.ClockDrift:
		return known("clock_drift.clock", a.Clock, s.with(s.clients())...)
	case faults.ClockFreeze:
		return known("clock_freeze.clock", a.Clock, s.with(s.clients())...)
	}
	return nil
}

// with is a role, and behind it those of all servers but the store.
func (s checked) with(r role) []role { return append([]role{r}, s.servers()...) }

// validateNode is validateNames for what strikes a node.
func (s checked) validateNode(action faults.Action) error {
	switch a := action.(type) {
	case faults.Refuse:
		return known("refuse.node", a.Node, append(s.servers(), s.store())...)
	case faults.Stall:
		return known("stall.node", a.Node, append(s.servers(), s.store())...)
	case faults.Evict:
		return known("evict.node", a.Node, s.servers()...)
	case faults.Flush:
		return known("flush.node", a.Node, s.servers()...)
	case faults.ReadOnly:
		return known("read_only.node", a.Node, s.servers()...)
	case faults.Failover:
		return s.validateFailover(a)
	}
	return nil
}

func (s checked) validateFailover(f faults.Failover) error {
	if s.World.Replicas == 0 {
		return wrong("failover.to", "nobody can take over: r0 has no replicas; set world.replicas to 1 or more")
	}
	for i, name := range f.Clients {
		if err := s.client(fmt.Sprintf("failover.clients[%d]", i), name); err != nil {
			return err
		}
	}
	if f.To == "" {
		return nil
	}
	primary := role{"first primary", []string{"r0"}}
	return known("failover.to", f.To, primary, s.replicas())
}

// client checks that there is such a client.
func (s checked) client(path, name string) error {
	clients := s.clients().names
	if slices.Contains(clients, name) {
		return nil
	}
	return wrong(path, "there is no client %q: world.clients makes %s", name, interval(clients))
}

// known checks that somebody of these roles has the name.
func known(path, name string, roles ...role) error {
	var parts []string
	for _, r := range roles {
		if slices.Contains(r.names, name) {
			return nil
		}
		if len(r.names) > 0 {
			parts = append(parts, fmt.Sprintf("the %s %s", r.title, interval(r.names)))
		}
	}
	if last := len(parts) - 1; last > 0 {
		parts[last] = "and " + parts[last]
	}
	return wrong(path, "there is no %q here: choose from %s", name, strings.Join(parts, ", "))
}

// Numbered is c0, c1, … for "c".
func Numbered(prefix string, count int) []string {
	all := make([]string, max(count, 0))
	for i := range all {
		all[i] = fmt.Sprint(prefix, i)
	}
	return all
}

// interval is "c0", "c0 and c1", or "c0 to c3".
func interval(names []string) string {
	first, last := names[0], names[len(names)-1]
	switch len(names) {
	case 1:
		return first
	case 2:
		return first + " and " + last
	}
	return first + " to " + last
}
