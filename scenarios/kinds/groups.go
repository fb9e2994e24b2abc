package kinds

import (
	"slices"
	"strings"
)

// group is a set of kinds of lock with a name.
type group struct {
	name string
	has  func(k Kind) bool
}

// groups are the names of several of the locks that come with locksim, for the
// locks and expect parts of a scenario file.
var groups = []group{
	{"all", func(Kind) bool { return true }},
	{"one-node", func(k Kind) bool { return k.Redis <= 1 }},
	{"quorum", func(k Kind) bool { return k.Redis > 1 }},
	{"with-token", func(k Kind) bool { return k.Tokens }},
	{"without-token", func(k Kind) bool { return !k.Tokens }},
	{"renewing", func(k Kind) bool { return strings.Contains(k.Name, "watchdog") }},
}

// Groups are the names of groups of locks in a scenario file. The caller owns the
// slice.
func Groups() []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.name
	}
	return names
}

// Members are the kinds of a group, or the name itself if it is no group. The
// caller owns the slice.
func Members(name string) []string {
	i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
	if i < 0 {
		return []string{name}
	}
	var out []string
	for _, k := range kinds {
		if groups[i].has(k) {
			out = append(out, k.Name)
		}
	}
	return out
}
