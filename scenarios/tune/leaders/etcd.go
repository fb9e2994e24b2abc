package leaders

import (
	"time"

	"locksim/scenarios/outcome/tunings"
)

// Etcd is an election on a lease of etcd that its client keeps alive, as package concurrency of clientv3 (v3.7.3) has
// it. These are its rules:
//
//   - The client asks to keep the lease alive when a third of the TTL has passed since the last answer (recvKeepAlive:
//     nextKeepAlive), and looks twice a second whether it has (sendKeepAliveLoop, retryConnWait).
//   - It gives the lease up when it has had no answer for a TTL (deadlineLoop), for which it looks twice a second too.
//     Then its session is done.
//   - It connects again by the backoff of gRPC: after 1 s, and then after 1.6 times as long as before, more or less by
//     a fifth (google.golang.org/grpc/backoff.DefaultConfig). It asks again half a second later at most.
//   - The servers have a leader 1 to 2 s after they are back: the election timeout, 1 s by default, and up to twice
//     that. That leader gives each lease its whole TTL again, and an election timeout (lessor.Promote). It ends those
//     that are over twice a second.
//   - The key of a leader that has stopped is there until its lease ends, or until its process takes it back.
type Etcd struct{ TTL time.Duration }

const (
	etcdLooks   = .5 // seconds between two looks of the client, and of the servers
	etcdElected = 1. // the election timeout
	// The backoff of gRPC.
	grpcBase, grpcFactor, grpcJitter, grpcMost = 1., 1.6, .2, 120.
)

// etcdLeast is the shortest TTL that the servers grant: one and a half election timeouts, in whole seconds.
const etcdLeast = 2 * time.Second

// Setting implements [Election].
func (e Etcd) Setting() tunings.Setting {
	s := tunings.Setting{System: tunings.Etcd, Name: short(e.TTL),
		Times: []tunings.Time{{Name: "ttl", Seconds: e.TTL.Seconds()}}}
	switch {
	case e.TTL%time.Second != 0:
		s.Refused = "a TTL is in whole seconds"
	case e.TTL < etcdLeast:
		s.Refused = "the servers grant no TTL below 2 s, one and a half election timeouts"
	}
	return s
}

// apart is how long after a renewal the next one is sent at most.
func (e Etcd) apart() float64 { return e.TTL.Seconds()/3 + etcdLooks }

// gap is the longest time after an outage until a client has connected again: the longest wait after a try that may
// come just before the end of the outage.
func gap(outage float64) float64 {
	earliest, wait := 0., grpcBase
	for longest := wait; ; {
		if earliest += wait * (1 - grpcJitter); earliest > outage {
			return longest
		}
		wait = min(wait*grpcFactor, grpcMost)
		longest = wait * (1 + grpcJitter)
	}
}

// Outage implements [Election].
func (e Etcd) Outage(n float64) tunings.Trouble {
	ttl := e.TTL.Seconds()
	back := within{n + etcdElected, n + 2*etcdElected} // the servers
	asks := within{back.least, max(back.most, n+gap(n)) + etcdLooks}
	return over(tunings.Outage, n, e.apart(), func(since float64) ending {
		stops := within{ttl - since, ttl - since + etcdLooks}
		if asks.most <= stops.least {
			return ending{}
		}
		elected := within{back.least, max(back.most+ttl+etcdElected+etcdLooks, asks.most)}
		return ending{surely: asks.least > stops.most, perhaps: true, none: elected.from(stops)}
	})
}

// Pause implements [Election]. A leader that goes on looks at once, and gives up if a TTL has passed, whether or not
// the servers have ended its lease.
func (e Etcd) Pause(m float64) tunings.Trouble {
	ttl := e.TTL.Seconds()
	return over(tunings.Pause, m, e.apart(), func(since float64) ending {
		if ttl-since >= m {
			return ending{}
		}
		ends := within{ttl - since, ttl - since + etcdLooks}
		return ending{surely: true, perhaps: true, two: within{0, etcdLooks}, none: ends}
	})
}

// Crash implements [Election].
func (e Etcd) Crash() tunings.Trouble {
	ttl := e.TTL.Seconds()
	return over(tunings.Crash, 0, e.apart(), func(since float64) ending {
		return ending{surely: true, perhaps: true, none: within{ttl - since, ttl - since + etcdLooks}}
	})
}
