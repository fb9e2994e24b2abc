package articles

import (
	"context"
	"time"
)

// getPexpire is recipe A13: the lock of A2 with the watchdog of a Java program: a task three times in a TTL that
// reads the key, compares it in the client, and sends PEXPIRE. It ends when the key is another's. The text promises
// that the lock does not end while its holder works.
type getPexpire struct {
	setNX
	cancel context.CancelFunc // of the task
}

// Lock asks until it has the lock or the time is over, and schedules the task.
func (l *getPexpire) Lock(timeout time.Duration) (bool, error) {
	ok, err := l.setNX.Lock(timeout)
	if ok {
		var life context.Context
		life, l.cancel = context.WithCancel(l.ctx)
		go l.task(life)
	}
	return ok, err
}

func (l *getPexpire) task(life context.Context) {
	every := time.NewTicker(l.ttl / 3)
	defer every.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-every.C:
			owner, err := l.client.Get(life, l.key).Result()
			if err != nil {
				continue
			}
			if owner != l.id {
				return
			}
			l.client.PExpire(life, l.key, l.ttl)
		}
	}
}

// Unlock cancels the task, and deletes the key.
func (l *getPexpire) Unlock() error {
	l.cancel()
	return l.setNX.Unlock()
}
