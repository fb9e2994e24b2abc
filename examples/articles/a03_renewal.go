package articles

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// renewed is recipe A3: the lock of A2, with a goroutine that renews it three times in a TTL until it is told to
// stop. The text promises that the lock does not end while its holder works, however long that takes.
type renewed struct {
	setNX
	stop chan struct{}
}

var expireOwn = redis.NewScript(`
if redis.call("get", KEYS[1]) == ARGV[1] then
	return redis.call("expire", KEYS[1], ARGV[2])
end
return 0`)

// Lock asks until it has the lock or the time is over, and renews it from then on.
func (l *renewed) Lock(timeout time.Duration) (bool, error) {
	ok, err := l.setNX.Lock(timeout)
	if ok {
		l.stop = make(chan struct{})
		go l.renew()
	}
	return ok, err
}

func (l *renewed) renew() {
	ticker := time.NewTicker(l.ttl / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			expireOwn.Run(l.ctx, l.client, []string{l.key}, l.id, int(l.ttl.Seconds()))
		case <-l.stop:
			return
		case <-l.ctx.Done(): // never, with context.Background()
			return
		}
	}
}

// Unlock stops the renewal, and deletes the key.
func (l *renewed) Unlock() error {
	close(l.stop)
	return l.setNX.Unlock()
}
