package file

import (
	"fmt"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/scenarios/kinds"
)

// role is the names of one sort of participants.
type role struct {
	title  string
	names  []string
	leader string // the name of whichever of them leads; empty if none does
	leads  string // what it does: "leads"
	lacks  []string
}

// has reports whether a participant of the role has the name.
func (r role) has(name string) bool {
	return slices.Contains(r.names, name) || r.leader != "" && name == r.leader
}

func (s checked) clients() role {
	r := role{title: "clients", names: Numbered("c", s.World.Clients), leader: faults.Holder, leads: "has the lock"}
	pool := faults.ExhaustPool{}.Kind()
	if s.redisNodes() == 0 && len(s.World.Servers) > 0 &&
		!slices.ContainsFunc(s.World.Servers, func(c ServerCount) bool { return !slices.Contains(c.Lacks, pool) }) {
		r.title, r.lacks = fmt.Sprintf("clients of %s servers", s.World.Servers[0].Name), []string{pool}
	}
	return r
}

func (s checked) redis() role {
	return role{title: "Redis nodes", names: Numbered("r", s.redisNodes())}
}

// replicas are r0a, r0b, …
func (s checked) replicas() role {
	return role{title: "replicas", names: s.World.ReplicaNames()}
}

// others are the servers of other kinds.
func (s checked) others() []role {
	var all []role
	for _, c := range s.World.Servers {
		all = append(all, role{c.Name + " servers", Numbered(c.Prefix, c.Count), c.Leader, "leads", c.Lacks})
	}
	return all
}

func (s checked) store() role { return role{title: "store", names: []string{"s0"}} }

// redisNodes is the number of Redis nodes that exist for every lock of the
// scenario: a lock that needs more than world.redis has more. The needs of locks
// that do not come with locksim are not known here.
func (s checked) redisNodes() int {
	if s.World.Redis == 0 {
		return 0
	}
	least := MaxRedis
	for _, name := range s.LockNames() {
		if n, ok := kinds.RedisOf(name); ok {
			least = min(least, max(s.World.Redis, n))
		}
	}
	return least
}

// roles are the sorts of participants that a fault's role includes.
func (s checked) roles(of faults.Role) []role {
	var all []role
	if of.Has(faults.Clients) {
		all = append(all, s.clients())
	}
	if of.Has(faults.Servers) {
		all = append(all, s.redis(), s.replicas())
		all = append(all, s.others()...)
	}
	for _, c := range s.World.Servers {
		if of.Has(faults.Watchers) && c.Watches || of.Has(faults.ClusterNodes) && c.Cluster {
			all = append(all, role{title: c.Name + " servers", names: Numbered(c.Prefix, c.Count)})
		}
	}
	if of.Has(faults.Members) {
		for _, c := range s.World.Servers {
			if c.Leader != "" {
				all = append(all, role{c.Name + " servers", Numbered(c.Prefix, c.Count), c.Leader, "leads", c.Lacks})
			}
		}
	}
	if of.Has(faults.Family) {
		all = append(all, role{title: "first primary", names: []string{"r0"}}, s.replicas())
	}
	if of.Has(faults.Store) {
		all = append(all, s.store())
	}
	return all
}

// struck checks that a participant of the role has the name, and that the fault can strike it.
func (s checked) struck(path, name string, of faults.Role, fault string) error {
	for _, r := range s.roles(of) {
		if r.has(name) && slices.Contains(r.lacks, fault) {
			instead := "Redis nodes have it"
			if of == faults.Members {
				instead = "members of etcd and ZooKeeper have it"
			}
			return wrong(path, "%s is one of the %s, which %s cannot strike: %s", name, r.title, fault, instead)
		}
	}
	return s.known(path, name, of)
}

// known checks that a participant of the role has the name.
func (s checked) known(path, name string, of faults.Role) error {
	var parts []string
	for _, r := range s.roles(of) {
		if r.has(name) {
			return nil
		}
		if len(r.names) > 0 {
			part := fmt.Sprintf("the %s %s", r.title, interval(r.names))
			if r.leader != "" {
				part += fmt.Sprintf(" (%s for the one that %s)", r.leader, r.leads)
			}
			parts = append(parts, part)
		}
	}
	if of == faults.Clients {
		return wrong(path, "there is no client %q: world.clients makes %s", name, interval(s.clients().names))
	}
	if len(parts) == 0 {
		return wrong(path, "%s is not %v, and this world has none: give it some, such as world: {etcd: 3}", name, of)
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
