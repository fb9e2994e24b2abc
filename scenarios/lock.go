package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"locksim/lock"
	"locksim/sim"
)

// Lock is a lock under test: one of ours, or anybody's behind a lock.Locker.
type Lock struct {
	// Name is what reports call it.
	Name string
	// New makes the lock of one client, on the clients and clocks of its
	// process. It is called once for each process of a run, inside the world.
	New func(p *sim.Process) (lock.Locker, error)
	// Nodes is the number of Redis nodes that it needs; 0 means 1.
	Nodes int
	// Tokens says that its leases carry fencing tokens. The modes that need
	// them are not run without.
	Tokens bool
	// Keys names the lock keys of a resource, counters left out. With it, a
	// run tells a key that was left behind; nil means that it does not look.
	Keys func(resource string) []string
}

func (l Lock) validate() error {
	switch {
	case l.Name == "":
		return fmt.Errorf("scenarios: the lock has no Name: reports need one")
	case l.New == nil:
		return fmt.Errorf("scenarios: lock %s has no New: it makes the lock of one client", l.Name)
	case l.Nodes < 0 || l.Nodes > MaxRedis:
		return fmt.Errorf("scenarios: lock %s wants %d Redis nodes: give 0 to %d", l.Name, l.Nodes, MaxRedis)
	}
	return nil
}

// kinds are the locks of package lock, by the names that scenario files use.
var kinds = map[string]func(LockSpec) Lock{
	"single": singleKind,
	"fenced": fencedKind,
}

// Kinds are the names of the locks that come with locksim, in order.
func Kinds() []string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Kind makes one of the locks that come with locksim, with the TTL and backoff
// of the spec. The error lists the kinds.
func Kind(name string, spec LockSpec) (Lock, error) {
	build, ok := kinds[name]
	if !ok {
		return Lock{}, fmt.Errorf("there is no lock kind %q: there are %s", name, strings.Join(Kinds(), ", "))
	}
	return build(spec), nil
}

// FindLock is the lock of that name: one of extra, or a kind that comes with
// locksim, made by the spec. The error lists them all.
func FindLock(name string, spec LockSpec, extra []Lock) (Lock, error) {
	names := Kinds()
	for _, l := range extra {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	if _, ok := kinds[name]; ok {
		return Kind(name, spec)
	}
	return Lock{}, fmt.Errorf("there is no lock %q: there are %s", name, strings.Join(names, ", "))
}

// optionsFor gives a lock the time, the randomness and the owner ids of its
// process.
func optionsFor(p *sim.Process, spec LockSpec) lock.Options {
	return lock.Options{
		TTL:     spec.TTL,
		Backoff: lock.Backoff{Min: spec.Backoff.Min, Max: spec.Backoff.Max},
		Clock:   p.Clock(),
		Entropy: p.Entropy("lock"),
		Jitter:  p.Source("lock"),
	}
}

func keysOf(resource string) []string { return []string{lock.DefaultKeyPrefix + "{" + resource + "}"} }

func singleKind(spec LockSpec) Lock {
	return Lock{Name: "single", Keys: keysOf, New: func(p *sim.Process) (lock.Locker, error) {
		return lock.NewSingle(p.Redis("r0"), optionsFor(p, spec))
	}}
}

func fencedKind(spec LockSpec) Lock {
	return Lock{Name: "fenced", Tokens: true, Keys: keysOf, New: func(p *sim.Process) (lock.Locker, error) {
		return lock.NewFenced(p.Redis("r0"), optionsFor(p, spec))
	}}
}
