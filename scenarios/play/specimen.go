package play

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken"
)

// brokenPrefix begins the names of the locks of package broken.
const brokenPrefix = "broken/"

// Specimens are the names of the locks that are wrong on purpose, in order:
// broken/del-without-owner and others. [Kind] makes them.
func Specimens() []string {
	var names []string
	for _, s := range broken.All() {
		names = append(names, brokenPrefix+s.Name)
	}
	slices.Sort(names)
	return names
}

func brokenLock(name string) (Lock, error) {
	all := broken.All()
	i := slices.IndexFunc(all, func(s broken.Specimen) bool { return s.Name == name })
	if i < 0 {
		return Lock{}, fmt.Errorf("there is no specimen %q: there are %s", brokenPrefix+name, strings.Join(Specimens(), ", "))
	}
	s := all[i]
	return Lock{
		Name: brokenPrefix + s.Name, FollowsSpec: true, Servers: Redis(s.Nodes), Tokens: s.Tokens, Keys: s.Keys,
		About:   "A lock that is wrong on purpose (" + s.ID + "): " + s.Wrong,
		ForWhom: "Tests: it is wrong on purpose.",
		New: func(e Env) (lock.Locker, error) {
			m := maker{e}
			nodes := make([]redis.Cmdable, s.Nodes)
			for i := range nodes {
				nodes[i] = m.node(i)
			}
			return s.New(nodes, broken.Options{Options: m.options(), Wall: e.WallClock(), Point: func(label string) { _ = e.Point(label) }})
		},
	}.kept(), nil
}
