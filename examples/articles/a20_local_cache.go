package articles

import (
	"sync"
	"time"
)

// localCache is recipe A20: values that are expensive to compute, in a map of the process. If there is none, it takes a
// lock, looks into the map a second time, and computes. The text promises that one client computes a value, and that
// those who have waited find it.
type localCache struct {
	lock   func(key string) mutex // of all processes
	mu     sync.Mutex
	values map[string]string
}

// Get returns the value of a key, which it may compute.
func (c *localCache) Get(key string, timeout time.Duration, compute func() (string, error)) (string, error) {
	if value, ok := c.look(key); ok {
		return value, nil
	}
	l := c.lock("cache:" + key)
	if ok, err := l.Lock(timeout); err != nil || !ok {
		return "", err
	}
	defer func() { _ = l.Unlock() }()
	if value, ok := c.look(key); ok { // the second look
		return value, nil
	}
	value, err := compute()
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[key] = value
	return value, nil
}

func (c *localCache) look(key string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok := c.values[key]
	return value, ok
}
