package lock

import (
	"errors"
	"strings"
)

// All keys of a resource carry its name as their hash tag, "{name}": a Redis Cluster keeps keys with
// the same tag in one slot, and only there can a script use them together.

// lockKey is the key that exists while the lock is held. Its value is the owner id, or a hash if the lock is reentrant.
func lockKey(prefix, resource string) string { return prefix + "{" + resource + "}" }

// tokenKey is the key of the counter that fencing tokens are minted from.
func tokenKey(prefix, resource string) string { return counterKey(lockKey(prefix, resource)) }

// counterKey is tokenKey, from the lock's own key.
func counterKey(key string) string { return key + ":token" }

// releasedChannel is the pub/sub channel of releases of the claim's lock.
func releasedChannel(c claim) string { return c.key + ":released" }

// turnChannel is the channel on which an owner in the queue of a lock is notified that it is first.
func turnChannel(key, owner string) string { return key + ":turn:" + owner }

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
