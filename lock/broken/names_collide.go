package broken

import (
	"context"
	"strings"
	"unicode"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken/mistake"
)

// F31: the key has only the letters of the resource's name, in lower case; order:1 and order:2 are one key, and a
// client waits for a lock that no client has. The catalogue has this for names of owners.
var namesCollide = Specimen{
	Mistake: mistake.NamesCollide,
	build: func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newNamed(nodes[0], o, func(resource string) string {
			// Wrong:
			return strings.Map(lowerLetter, resource)
			// Right: return resource
		})
	},
}

// lowerLetter maps a letter to its lower case, and drops everything else.
func lowerLetter(r rune) rune {
	if !unicode.IsLetter(r) {
		return -1
	}
	return unicode.ToLower(r)
}

// newNamed makes a lock whose key has the name that name returns for a resource.
func newNamed(node redis.Cmdable, o Options, name func(resource string) string) lock.Locker {
	named := func(c claim) claim {
		c.key = o.KeyPrefix + "{" + name(c.resource) + "}"
		return c
	}
	return newOnNode(o, protocol{
		grant: func(ctx context.Context, c claim) (uint64, bool, error) {
			granted, err := setNX(ctx, node, named(c), o.TTL)
			return 0, granted, err
		},
		release: func(ctx context.Context, c claim) error { return deleteOwn(ctx, node, named(c)) },
	})
}
