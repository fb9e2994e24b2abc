package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Limits bounds a run. A zero field means its default.
type Limits struct {
	// Virtual bounds the virtual time of a run. Default: 1 hour.
	Virtual time.Duration
	// Events bounds the number of events that the world delivers. Default: 2,000,000.
	Events int
	// Burst bounds the number of events within one second of virtual time. Default: none.
	Burst int
	// Frozen is the wall-clock time without any event after which a run counts
	// as frozen; six times as long while one of its goroutines can run. Default: 10 seconds.
	Frozen time.Duration
}

func (l Limits) withDefaults() Limits {
	if l.Virtual == 0 {
		l.Virtual = time.Hour
	}
	if l.Events == 0 {
		l.Events = 2_000_000
	}
	if l.Frozen == 0 {
		l.Frozen = 10 * time.Second
	}
	return l
}

func (l Limits) validate() error {
	if l.Virtual < 0 || l.Events < 0 || l.Burst < 0 || l.Frozen < 0 {
		return fmt.Errorf("sim: negative limit in %+v: leave a limit 0 for its default", l)
	}
	return nil
}

// LimitError is returned when a run reached one of its [Limits].
type LimitError struct {
	// What names the limit: "virtual time", "events" or "events within a second".
	What string
	// Limit is its value, as text.
	Limit string
	// At is the virtual time at which the run was ended.
	At time.Duration
	// Busiest is the process that had made the most requests to the world, such as to send or to sleep, Requests is their
	// number. They are "" and 0 if no process had made any.
	Busiest  string
	Requests int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the run reached its limit of %s (%s) at virtual time %v: a client waits forever or retries "+
		"without pause, or the limit is too small; %s made the most requests, %d", e.What, e.Limit, e.At,
		cmp.Or(e.Busiest, "no client"), e.Requests)
}

// ErrStopped is returned by [World.RunUntil] when the trace has reached the
// event number of [Config.StopAt].
var ErrStopped = errors.New("the run was stopped at the event asked for")
