package play

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ServerCount is how many servers of a kind other than Redis a world has.
type ServerCount struct {
	// Kind is the name of the kind.
	Kind string `json:"kind"`
	// Prefix is what the names of its servers begin with.
	Prefix string `json:"prefix"`
	// Count is how many of them there are.
	Count int `json:"count" jsonschema:"minimum=1"`
}

// MaxServers is the most servers of one kind that a world may have.
const MaxServers = 9

var (
	serverKind   = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	serverPrefix = regexp.MustCompile(`^[a-z]+$`)
	// takenWords are the keys of a world, which no kind of server may have for a name.
	takenWords = []string{"clients", "latency", "replicas", "lag", "persistence", "snapshot"}
	// takenPrefixes are those of clients, Redis servers and the store.
	takenPrefixes = []string{"c", "r", "s", "probe", "world"}
)

// validateServers returns an error about the first servers of a lock that make no
// sense, or nil.
func validateServers(list []Servers) error {
	for i, s := range list {
		k := s.Kind
		most := MaxServers
		switch {
		case k.Name == redisName && k.Prefix == "r" && k.Make == nil:
			most = MaxRedis
		case !serverKind.MatchString(k.Name) || slices.Contains(takenWords, k.Name) || k.Name == redisName:
			return fmt.Errorf("a kind of server cannot be named %q: write a word of lower-case letters that is no other key of a world, such as register", k.Name)
		case !serverPrefix.MatchString(k.Prefix) || slices.Contains(takenPrefixes, k.Prefix):
			return fmt.Errorf("the names of %s servers cannot begin with %q: give lower-case letters, other than %q", k.Name, k.Prefix, takenPrefixes)
		case k.Make == nil:
			return fmt.Errorf("the kind of server %s has no Make: it makes the servers", k.Name)
		}
		if s.Count < 1 || s.Count > most {
			return fmt.Errorf("it wants %d %s servers: give 1 to %d", s.Count, k.Name, most)
		}
		for _, other := range list[:i] {
			if other.Kind.Name == k.Name || other.Kind.Prefix == k.Prefix {
				return fmt.Errorf("it names the kind of server %s, or its prefix %s, twice", k.Name, k.Prefix)
			}
		}
	}
	return nil
}

// count is how many servers of a kind, Redis apart, the world has.
func (w World) count(kind string) int {
	for _, s := range w.Servers {
		if s.Kind == kind {
			return s.Count
		}
	}
	return 0
}

// names are those of all servers of the world but the store and the replicas.
func (w World) names() []string {
	names := numbered("r", w.Redis)
	for _, s := range w.Servers {
		names = append(names, numbered(s.Prefix, s.Count)...)
	}
	return names
}

// needs gives the world the servers that a lock needs, where it has fewer.
func (w *World) needs(l Lock) {
	w.Redis = max(w.Redis, l.count(redisName))
	w.Servers = withServersOf(w.Servers, l)
}

// needs gives the space the servers that a lock needs, where it has fewer.
func (s *Space) needs(l Lock) {
	s.Redis = max(s.Redis, l.count(redisName))
	s.Servers = withServersOf(s.Servers, l)
}

// withServersOf is a list of servers with those that a lock needs, in the order of
// their kinds.
func withServersOf(list []ServerCount, l Lock) []ServerCount {
	out := slices.Clone(list)
	for _, s := range l.Servers {
		if s.Kind.Name == redisName {
			continue
		}
		i := slices.IndexFunc(out, func(c ServerCount) bool { return c.Kind == s.Kind.Name })
		if i < 0 {
			out = append(out, ServerCount{s.Kind.Name, s.Kind.Prefix, s.Count})
			continue
		}
		out[i].Count = max(out[i].Count, s.Count)
	}
	slices.SortFunc(out, func(a, b ServerCount) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// ServerKinds are the kinds of servers, Redis apart, that come with locks: for
// [Parse] of scenarios that name them.
func ServerKinds(locks ...Lock) []ServerKind {
	var out []ServerKind
	for _, l := range locks {
		for _, s := range l.Servers {
			known := slices.ContainsFunc(out, func(k ServerKind) bool { return k.Name == s.Kind.Name })
			if s.Kind.Name != redisName && !known {
				out = append(out, s.Kind)
			}
		}
	}
	return out
}
