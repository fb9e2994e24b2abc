package lock

import (
	"errors"
	"strings"
)

// All keys of a resource carry its name as their hash tag, "{name}": a Redis Cluster keeps keys with
// the same tag in one slot, and only there can a script use them together.

// lockKey is the key that is there while somebody holds the lock. Its value is the owner id.
func lockKey(prefix, resource string) string { return prefix + "{" + resource + "}" }

// tokenKey is the key of the counter that fencing tokens are minted from.
func tokenKey(prefix, resource string) string { return lockKey(prefix, resource) + ":token" }

// checkResource refuses names that would break the hash tag. Redis ends the tag at the first closing
// brace and ignores an empty one, so such a name could scatter the keys of one resource over slots.
func checkResource(name string) error {
	switch {
	case name == "":
		return errors.New("the resource has no name")
	case strings.ContainsAny(name, "{}"):
		return errors.New("the name of the resource holds a brace: braces mark the part of a key that chooses its cluster slot")
	}
	return nil
}
