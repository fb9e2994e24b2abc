package play

import (
	"slices"
	"strings"

	"locksim/lock/fence"
)

// group is a name for several kinds of lock.
type group struct {
	name string
	has  func(k kind) bool
}

// groups are the names for several of the locks that come with locksim, for the
// locks and expect parts of a scenario file.
var groups = []group{
	{"all", func(kind) bool { return true }},
	{"one-node", func(k kind) bool { return k.nodes <= 1 }},
	{"quorum", func(k kind) bool { return k.nodes > 1 }},
	{"with-token", func(k kind) bool { return k.tokens }},
	{"without-token", func(k kind) bool { return !k.tokens }},
	{"renewing", func(k kind) bool { return strings.Contains(k.name, "watchdog") }},
}

// Groups are the names that stand for several kinds of lock in a scenario file.
// The caller owns the slice.
func Groups() []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.name
	}
	return names
}

// members are the kinds of a group, or the name itself where it is no group.
func members(name string) []string {
	i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
	if i < 0 {
		return []string{name}
	}
	var out []string
	for _, k := range kinds {
		if groups[i].has(k) {
			out = append(out, k.name)
		}
	}
	return out
}

// runsIn reports whether a kind of lock can run in a mode. Of a lock that does
// not come with locksim nothing is known, so it can.
func runsIn(name string, mode fence.Mode) bool {
	l, err := Kind(name)
	return err != nil || l.Tokens || !mode.NeedsToken()
}

// LockNames are the locks that the scenario is about, each once: kinds in the
// order of [Kinds], then all others in the order in which they are named.
func (s *Scenario) LockNames() []string {
	named := s.Locks
	if len(named) == 0 {
		named = []string{s.Lock.Kind}
	}
	var all []string
	for _, name := range named {
		all = append(all, members(name)...)
	}
	var out []string
	for _, name := range append(Kinds(), all...) {
		if slices.Contains(all, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
