package articles

import "time"

// business is recipe A23: A2, whose holder works under a context of 8 of the lock's 10 seconds. The text promises that
// the work has ended before the lock does.
//
// fromAnswer is the choice of those who make the context when they have the lock, in place of before they ask.
type business struct {
	setNX
	limit      time.Duration
	fromAnswer bool
	end        time.Time
}

// Lock asks until it has the lock or the time is over.
func (l *business) Lock(timeout time.Duration) (bool, error) {
	return polled(l.now, timeout, func() (bool, error) {
		began := l.now()
		ok, err := l.Try()
		if l.fromAnswer {
			began = l.now()
		}
		l.end = began.Add(l.limit)
		return ok, err
	})
}

// Deadline is the end of the context of the work.
func (l *business) Deadline() time.Time { return l.end }
