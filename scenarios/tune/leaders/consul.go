package leaders

import (
	"fmt"
	"time"

	"locksim/scenarios/outcome/tunings"
)

// Consul is an election by api.Lock of Consul's Go client (v1.34). These are its rules:
//
//   - The client renews its session after half of the TTL, and after a try that fails each second, until it has not
//     renewed it for a TTL (Session.RenewPeriodic).
//   - The leader stops when its watch of the key fails (Lock.monitorLock), which is at once in an outage, but for
//     MonitorRetries tries, 2 s apart (DefaultMonitorRetryTime). The default is none.
//   - The servers end a session that nobody renews between one and two TTLs after its last renewal (documentation of
//     sessions: "the TTL is a lower bound"). A new leader of them gives each session its whole TTL again. They have one
//     5 to 10 s after they are back (raft_multiplier 5).
//   - After the end of a session nobody has the lock for the lock-delay, 15 s by default, 0 to 60 s. A lock that its
//     holder gives back has none.
//   - The TTL is 10 s to a day.
type Consul struct {
	TTL, LockDelay time.Duration
	MonitorRetries int
}

// The times of Consul and its client, in seconds.
const (
	consulRetries = 1.
	consulWatches = 2.
)

// consulElected is how long the servers need for a leader, in seconds.
var consulElected = within{5, 10}

const (
	consulLeast, consulMost = 10 * time.Second, 24 * time.Hour
	consulDelay             = time.Minute
)

// Setting implements [Election].
func (c Consul) Setting() tunings.Setting {
	s := tunings.Setting{System: tunings.Consul, Name: short(c.TTL) + "/" + short(c.LockDelay),
		Times: []tunings.Time{{Name: "ttl", Seconds: c.TTL.Seconds()}, {Name: "lockDelay", Seconds: c.LockDelay.Seconds()},
			{Name: "monitorRetryTime", Seconds: consulWatches}}, Retries: c.MonitorRetries}
	if c.MonitorRetries > 0 {
		s.Name += fmt.Sprintf(", %d retries", c.MonitorRetries)
	}
	switch {
	case c.TTL < consulLeast || c.TTL > consulMost:
		s.Refused = "the servers take a TTL from 10 s to 24 hours"
	case c.LockDelay < 0 || c.LockDelay > consulDelay:
		s.Refused = "the servers take a lock-delay from 0 to 60 s"
	}
	return s
}

// Outage implements [Election].
func (c Consul) Outage(n float64) tunings.Trouble {
	ttl, delay, watched := c.TTL.Seconds(), c.LockDelay.Seconds(), consulWatches*float64(c.MonitorRetries)
	back := seconds(n).plus(consulElected)
	return over(tunings.Outage, n, ttl/2, func(since float64) ending {
		if n == 0 {
			return ending{}
		}
		renews := within{ttl - since, ttl - since + consulRetries}
		surely := back.least > watched || back.least > renews.most
		perhaps := back.most > watched || back.most > renews.least
		if !perhaps {
			return ending{}
		}
		stops := within{min(watched, back.least), watched}
		if back.most <= watched { // it stops when its session has ended, for nobody renews it
			stops = back.plus(within{ttl, 2 * ttl})
		}
		elected := within{back.least, max(back.most+2*ttl, stops.most) + delay}
		return ending{surely: surely, perhaps: true, none: elected.from(stops)}
	})
}

// ends is when the servers end a session that was renewed so many seconds ago.
func (c Consul) ends(since float64) within {
	ttl := c.TTL.Seconds()
	return within{ttl - since, 2*ttl - since}
}

// Pause implements [Election]. A leader that goes on has the answer to its watch of the key, and stops at once.
func (c Consul) Pause(m float64) tunings.Trouble {
	return over(tunings.Pause, m, c.TTL.Seconds()/2, func(since float64) ending {
		ends := c.ends(since)
		if ends.least >= m {
			return ending{}
		}
		surely := ends.most < m
		ends.most = min(ends.most, m)
		return ending{surely: surely, perhaps: true, none: ends.plus(seconds(c.LockDelay.Seconds()))}
	})
}

// Crash implements [Election].
func (c Consul) Crash() tunings.Trouble {
	return over(tunings.Crash, 0, c.TTL.Seconds()/2, func(since float64) ending {
		return ending{surely: true, perhaps: true, none: c.ends(since).plus(seconds(c.LockDelay.Seconds()))}
	})
}
