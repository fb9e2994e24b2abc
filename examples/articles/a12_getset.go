package articles

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// getSet is recipe A12: the key has no TTL. Its value is the client and the end of its lease by the clock of that
// client. A client that finds an end that has passed takes the key by GETSET, and has it if what it replaced is
// what it had read. The text promises that one client has the lock at a time, and that a crash frees it after the
// TTL.
type getSet struct{ setNX }

func (l *getSet) value() string {
	return fmt.Sprintf("%s|%s", l.id, l.now().Add(l.ttl).Format(time.RFC3339Nano))
}

// Lock asks until it has the lock or the time is over.
func (l *getSet) Lock(timeout time.Duration) (bool, error) {
	return polled(l.now, timeout, func() (bool, error) {
		ok, err := l.client.SetNX(l.ctx, l.key, l.value(), 0).Result()
		if ok || err != nil {
			return ok, err
		}
		is, err := l.client.Get(l.ctx, l.key).Result()
		if errors.Is(err, redis.Nil) {
			return false, nil // it was released meanwhile
		}
		if err != nil {
			return false, err
		}
		_, end, _ := strings.Cut(is, "|")
		if at, err := time.Parse(time.RFC3339Nano, end); err != nil || !l.now().After(at) {
			return false, err
		}
		was, err := l.client.GetSet(l.ctx, l.key, l.value()).Result() //nolint:staticcheck // the recipe has GETSET
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return err == nil && was == is, err
	})
}

// Unlock deletes the key, if it is that of this client.
func (l *getSet) Unlock() error {
	is, err := l.client.Get(l.ctx, l.key).Result()
	if errors.Is(err, redis.Nil) || err == nil && !strings.HasPrefix(is, l.id+"|") {
		return errNotOwner
	}
	if err != nil {
		return err
	}
	return l.client.Del(l.ctx, l.key).Err()
}
