package leaders

import (
	"time"

	"locksim/scenarios/outcome/tunings"
)

// ZooKeeper is an election on an ephemeral node of ZooKeeper. These are its rules:
//
//   - A client that is idle pings after a third of the session timeout, and takes a server that it has not heard for
//     two thirds of it for lost (ClientCnxn: readTimeout; zk.Conn: recvTimeout, pingInterval). Either is Disconnected.
//   - A session is measured by the leader of the servers in whole ticks (ExpiryQueue.roundToNextInterval), and the
//     other servers report to it twice a tick which sessions they have heard of. So it ends up to one and a half ticks
//     late.
//   - A new leader of the servers gives each session its whole timeout again, so that no outage ends one whose client
//     comes back. A client is back within 1 s (ClientCnxn sleeps for up to a second between two tries, zk.Conn for
//     one).
//   - The servers grant 2 to 20 ticks (minSessionTimeout, maxSessionTimeout).
//
// What a leader does depends on its library: Curator's LeaderLatch stops when it is Disconnected
// (StandardConnectionStateErrorPolicy), the Lock of the Go client goes on until it is told that its session has ended.
type ZooKeeper struct {
	SessionTimeout, Tick time.Duration
	// Disconnected says that the leader stops when it is disconnected. Otherwise it goes on until it is told that its
	// session has ended.
	Disconnected bool
}

const (
	zkBack    = 1. // seconds until a client is back
	zkReports = .5 // ticks until the leader has heard of a session
	zkElected = 2. // seconds until the servers have a leader, at most
	zkLeast   = 2  // ticks of the shortest session
	zkMost    = 20 // ticks of the longest one
	zkPings   = 1. / 3
	zkSilent  = 2. / 3
)

// Setting implements [Election].
func (z ZooKeeper) Setting() tunings.Setting {
	s := tunings.Setting{System: tunings.ZooKeeper, Name: short(z.SessionTimeout) + ", until expired",
		Times: []tunings.Time{{Name: "sessionTimeout", Seconds: z.SessionTimeout.Seconds()},
			{Name: "tickTime", Seconds: z.Tick.Seconds()}}}
	if z.Disconnected {
		s.Name = short(z.SessionTimeout) + ", until disconnected"
	}
	if z.SessionTimeout < zkLeast*z.Tick || z.SessionTimeout > zkMost*z.Tick {
		s.Refused = "the servers grant no session timeout below 2 ticks or above 20: they would grant another one"
	}
	return s
}

// times are the session timeout, and how much later a session may end, in seconds.
func (z ZooKeeper) times() (timeout, late float64) {
	return z.SessionTimeout.Seconds(), z.Tick.Seconds() * (1 + zkReports)
}

// Outage implements [Election].
func (z ZooKeeper) Outage(n float64) tunings.Trouble {
	timeout, late := z.times()
	return over(tunings.Outage, n, timeout*zkPings, func(float64) ending {
		if !z.Disconnected || n == 0 {
			return ending{}
		}
		return lost(true, none, within{n, n + zkElected + timeout + late})
	})
}

// Pause implements [Election]. A leader that goes on finds that it has heard nothing, or that its session has ended.
func (z ZooKeeper) Pause(m float64) tunings.Trouble {
	timeout, late := z.times()
	return over(tunings.Pause, m, timeout*zkPings, func(since float64) ending {
		ends := within{timeout - since, timeout - since + late}
		if z.Disconnected {
			if ends.most >= m { // its session may go on, and it takes its node back
				ends = within{min(ends.least, m), m + timeout + late}
			}
			if m+since <= timeout*zkSilent {
				return ending{}
			}
			return ending{surely: true, perhaps: true, none: ends}
		}
		if ends.least >= m {
			return ending{}
		}
		surely := ends.most < m
		ends.most = min(ends.most, m)
		return ending{surely: surely, perhaps: true, two: within{0, zkBack}, none: ends}
	})
}

// Crash implements [Election].
func (z ZooKeeper) Crash() tunings.Trouble {
	timeout, late := z.times()
	return over(tunings.Crash, 0, timeout*zkPings, func(since float64) ending {
		return ending{surely: true, perhaps: true, none: within{timeout - since, timeout - since + late}}
	})
}
