package subject

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/sim/trace"
)

var (
	serverKind   = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	serverPrefix = regexp.MustCompile(`^[a-z]+$`)
	// takenPrefixes are those of clients, Redis servers and the store.
	takenPrefixes = []string{"c", "r", "s", trace.Probe, trace.World}
)

// ownKey is that of a kind whose number a world has under a key that every file knows, with more keys about them.
type ownKey struct {
	number func(w *file.World) *int
	most   int
}

func (k ServerKind) grants() bool { return !k.Watches && !k.Behind && !k.Beside }

// RedisKind is the kind that needs no lock to bring it along. It has no Make: its servers are made with what a world
// says of them, their replicas and their persistence.
func RedisKind() ServerKind {
	return ServerKind{Facts: server.Redis, own: &ownKey{
		number: func(w *file.World) *int { return &w.Redis }, most: file.MaxRedis}}
}

// validateServers returns an error about the first invalid servers of a lock, or
// nil.
func validateServers(list []Servers) error {
	for i, s := range list {
		k := s.Kind
		most := file.MaxServers
		switch {
		case k.own != nil:
			most = k.own.most
		case !serverKind.MatchString(k.Name) || isWorldKey(k.Name):
			return fmt.Errorf("a kind of server cannot be named %q: write a word of lower-case letters that is no other key "+
				"of a world, such as register", k.Name)
		case !serverPrefix.MatchString(k.Prefix) || slices.Contains(takenPrefixes, k.Prefix):
			return fmt.Errorf("the names of %s servers cannot begin with %q: give lower-case letters, other than %q", k.Name,
				k.Prefix, takenPrefixes)
		case k.Make == nil:
			return fmt.Errorf("the kind of server %s has no Make: it makes the servers", k.Name)
		}
		if s.Count < 1 || s.Count > most {
			return fmt.Errorf("it needs %d %s servers: give 1 to %d", s.Count, k.Name, most)
		}
		for _, other := range list[:i] {
			if other.Kind.Name == k.Name || other.Kind.Prefix == k.Prefix {
				return fmt.Errorf("it names the kind of server %s, or its prefix %s, twice", k.Name, k.Prefix)
			}
		}
	}
	return nil
}

// isWorldKey reports whether a world has a key of that name, so that no kind of server can have it.
func isWorldKey(name string) bool {
	return slices.ContainsFunc(file.Keys(), func(k file.Key) bool { return k.Group == "world" && k.Name == name })
}

// Equip adds the servers that a lock needs to a world that has fewer.
func Equip(w *file.World, l Lock) {
	for _, s := range l.Needs() {
		if own := s.Kind.own; own != nil {
			n := own.number(w)
			*n = max(*n, s.Count)
		}
	}
	w.Replicas = max(w.Replicas, l.LeastReplicas())
	w.Servers = withServersOf(w.Servers, l)
}

// withServersOf adds the servers that a lock needs to a list, sorted by kind.
func withServersOf(list []file.ServerCount, l Lock) []file.ServerCount {
	out := slices.Clone(list)
	for _, s := range l.Servers {
		if s.Kind.own != nil {
			continue
		}
		i := slices.IndexFunc(out, func(c file.ServerCount) bool { return c.Name == s.Kind.Name })
		if i < 0 {
			is := s.Kind.Facts
			is.Lacks = s.Kind.lacks()
			out = append(out, file.ServerCount{Facts: is, Count: s.Count})
			continue
		}
		out[i].Count = max(out[i].Count, s.Count)
	}
	slices.SortFunc(out, func(a, b file.ServerCount) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Names are their names in a world, with those of replicas.
func (s Servers) Names(w file.World) []string {
	if s.Kind.own != nil {
		return append(file.Numbered(s.Kind.Prefix, max(s.Count, *s.Kind.own.number(&w))), w.ReplicaNames()...)
	}
	return file.Numbered(s.Kind.Prefix, max(s.Count, w.Count(s.Kind.Name)))
}

// lacks are the kinds of fault that cannot strike servers of the kind in this program.
func (k ServerKind) lacks() []string {
	if k.Power == nil || k.Power() == nil {
		return k.Lacks
	}
	return append(slices.Clone(k.Lacks), file.PowerLoss)
}

// powered returns an error if a machine of the lock's servers loses its power, and cannot in this program.
func (l Lock) powered(sc *file.Scenario) error {
	for _, f := range sc.Faults {
		crash, ok := f.Action.(faults.Crash)
		if !ok || crash.Mode != faults.CrashPower {
			continue
		}
		for _, s := range l.Servers {
			if s.Kind.Power == nil || !slices.Contains(s.Names(sc.World), crash.Process) {
				continue
			}
			if err := s.Kind.Power(); err != nil {
				return sc.ErrorAt(f.Pos, "%s cannot lose its power with lock %s: %v", crash.Process, l.Name, err)
			}
		}
	}
	return nil
}

// ServerNames are the names of the kinds of servers other than Redis that locks
// bring along, for [file.Parse] of scenarios that name them.
func ServerNames(locks ...Lock) []server.Facts {
	var out []server.Facts
	for _, l := range locks {
		for _, s := range l.Servers {
			known := slices.ContainsFunc(out, func(n server.Facts) bool {
				return n.Name == s.Kind.Name && n.Prefix == s.Kind.Prefix
			})
			if s.Kind.own == nil && !known {
				out = append(out, s.Kind.Facts)
			}
		}
	}
	return out
}

// Advice is what the kinds of servers say about a difference, each on a line.
func (l Lock) Advice(d *trace.Divergence) string {
	var lines []string
	for _, s := range l.Servers {
		if s.Kind.Advice == nil {
			continue
		}
		if line := s.Kind.Advice(d); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
