package lock

import "time"

// timed is a lock that tells a Watchdog its clock, and how long a grant is valid from its sending.
type timed interface {
	timing() (Clock, time.Duration)
}

func (e *core) timing() (Clock, time.Duration) { return e.opt.Clock, e.opt.TTL }

func (l *Single) timing() (Clock, time.Duration)   { return l.engine.timing() }
func (l *Fenced) timing() (Clock, time.Duration)   { return l.engine.timing() }
func (l reentrant) timing() (Clock, time.Duration) { return l.engine.timing() }
func (l fair) timing() (Clock, time.Duration)      { return l.engine.timing() }

func (q *quorum) timing() (Clock, time.Duration)        { return q.opt.Clock, q.validity() }
func (l *Redlock) timing() (Clock, time.Duration)       { return l.quorum.timing() }
func (l *RedlockFenced) timing() (Clock, time.Duration) { return l.quorum.timing() }
