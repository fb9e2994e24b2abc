package articles

import "time"

// watchdog is recipe A9: the lock of A2, with a watchdog that sends EXPIRE three times in a TTL, and does not look at
// who has the key. The text promises that the lock does not end while its holder works, and ends by itself when its
// process has crashed.
type watchdog struct {
	setNX
	done chan struct{}
}

// Lock asks until it has the lock or the time is over, and starts the watchdog.
func (l *watchdog) Lock(timeout time.Duration) (bool, error) {
	ok, err := l.setNX.Lock(timeout)
	if !ok || err != nil {
		return ok, err
	}
	l.done = make(chan struct{})
	go func() {
		for {
			select {
			case <-time.After(l.ttl / 3):
				l.client.Expire(l.ctx, l.key, l.ttl)
			case <-l.done:
				return
			case <-l.ctx.Done(): // never, with context.Background()
				return
			}
		}
	}()
	return true, nil
}

// Unlock stops the watchdog, and deletes the key.
func (l *watchdog) Unlock() error {
	close(l.done)
	return l.setNX.Unlock()
}
