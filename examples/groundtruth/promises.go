package groundtruth

import (
	"slices"

	"locksim/internal/glue"
	"locksim/lock"
	"locksim/lock/promise"
)

// promises are what libraries promise, by the name that a row of bugs.yaml has.
var promises = map[string]func() lock.Promise{
	"abandoned":           abandoned,
	"answering":           answering,
	"cutOff":              cutOff,
	"explaining":          explaining,
	"freed":               freed,
	"heldByWallClock":     heldByWallClock,
	"inTable":             inTable,
	"knowsItself":         knowsItself,
	"leading":             leading,
	"lease":               lease,
	"leaving":             leaving,
	"led":                 led,
	"left":                left,
	"oneAtATime":          oneAtATime,
	"pooled":              pooled,
	"releasing":           releasing,
	"renewing":            renewing,
	"returning":           returning,
	"session":             session,
	"sparing":             sparing,
	"steady":              steady,
	"stopped":             stopped,
	"successor":           successor,
	"tokenless":           tokenless,
	"toldOfLoss":          toldOfLoss,
	"unordered":           unordered,
	"unreported":          unreported,
	"withinTTLAndCluster": withinTTLAndCluster,
	"held":                func() lock.Promise { return held() },
}

// toldOfLoss is the promise of a lock that is held until its holder is told of its loss, and that may stay taken. A
// holder that is paused, or whose server is, is not told in time; nothing is promised then.
func toldOfLoss() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultReset, lock.FaultPartition},
		Data:      "seal", FreeWithin: lock.TermAnyTime,
		FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: lock.TermAnyTime},
	}
}

// abandoned is that of one which somebody else can have once its holder was told that it is lost.
func abandoned() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultReset, lock.FaultNodeCrash}, Data: "seal", FreeWithin: lock.TermAnyTime,
		FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: lock.TermTTLAndCluster},
	}
}

// within is that of one which is free within a term, whatever its last holder did.
func within(term lock.Term) lock.Promise {
	p := abandoned()
	p.Exclusion, p.FreeWithin, p.FreeAfter = []lock.Fault{lock.FaultNodeCrash}, term, nil
	return p
}

// lease is the promise to start from for a lock with a lease.
func lease() lock.Promise { return glue.Lease() }

// knowsItself is that of a lock that knows its own key again.
func knowsItself() lock.Promise {
	p := lease()
	p.SelfExcludes, p.ResendExcludes = false, false
	return p
}

// held is that of a lock that renews itself and tells its holder of a loss: under the faults of clients and
// connections, and more. Its Release has no result.
func held(more ...lock.Fault) lock.Promise { return glue.Held(more...) }

// unreported is that of a lock which its user does not always give back.
func unreported() lock.Promise {
	p := lease()
	p.Duties = slices.DeleteFunc(p.Duties, func(d promise.Duty) bool { return d == promise.DutyReports })
	return p
}

// renewing is that of one whose documentation says that it renews itself: it must not lose the lock where nothing keeps
// it from that.
func renewing() lock.Promise {
	p := held()
	p.Duties = []promise.Duty{promise.DutyRenews}
	return p
}

// session is that of a lock of etcd, which lasts as long as a session. The revision of its key is a token.
func session() lock.Promise { return glue.Session() }

// unordered is that of an election of etcd, whose tokens do not always rise: by etcd-22123 a leader may have its last
// one again.
func unordered() lock.Promise {
	p := session()
	p.TokensUnordered = true
	return p
}

// steady is that where no session ends by a fault, which would void a grant: see etcd-11007 and etcd-void.
func steady() lock.Promise {
	p := session()
	p.Exclusion = []lock.Fault{lock.FaultReset}
	return p
}

// left is that where a candidate who has left keeps no other one waiting.
func left() lock.Promise {
	p := steady()
	p.TokensUnordered, p.FreeWithin = true, lock.TermTTLAndCluster
	return p
}

// freed is that of a lock that is free as soon as a session of ZooKeeper may have ended.
func freed() lock.Promise {
	p := session()
	p.FreeWithin = lock.TermSession
	return p
}

// tokenless is that of a session whose lock has no token.
func tokenless() lock.Promise {
	p := session()
	p.Data = "claim"
	return p
}

// pooled is that of a lock on one connection of a pool, whose loss is no fault here: it is free once it is released.
func pooled() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultPause, lock.FaultPool, lock.FaultLatency},
		Data:      "claim", FreeWithin: lock.TermTTL,
	}
}

// leaving is that of a lock which a process that dies does not keep.
func leaving() lock.Promise {
	return lock.Promise{Exclusion: []lock.Fault{lock.FaultCrash}, Data: "claim", FreeWithin: lock.TermTTL}
}

// stopped is that of an election whose calls return when their contexts end, whatever the network does.
func stopped() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultNodeCrash,
			lock.FaultNodePower},
		Data: "seal", FreeWithin: lock.TermAnyTime, ReturnsWithin: lock.TermTTLAndCluster,
		Duties: []promise.Duty{promise.DutyReturns},
	}
}

// successor is that of an election whose leader has the lease until it is told, and may stay the last one for a while.
func successor() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultNodeCrash,
			lock.FaultNodePower},
		Data: "seal", FreeWithin: lock.TermAnyTime,
	}
}

// returning is that of a lock whose Acquire returns soon after its context has ended, and that its user may ask for so
// seldom that it is free for long.
func returning() lock.Promise {
	p := dutiful(promise.DutyReturns)
	p.FreeWithin, p.FreeAfter = lock.TermAnyTime, map[promise.Cause]lock.Term{promise.CauseOther: lock.TermAnyTime}
	p.ReturnsWithin = lock.TermReleaseTimeout
	return p
}

// answering is that of a lock whose calls return within a TTL.
func answering() lock.Promise {
	p := dutiful(promise.DutyReturns)
	p.ReturnsWithin = lock.TermTTL
	return p
}

// releasing is that of an election which gives the lead back when it is asked to, if it is answered.
func releasing() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultLatency}, Data: "seal", FreeWithin: lock.TermAnyTime,
		Duties: []promise.Duty{promise.DutyReports},
	}
}

// led is that of an election whose leader has the lead until it is told, where nothing keeps it from asking in time.
func led() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{lock.FaultCrash, lock.FaultPower, lock.FaultRestart},
		Data:      "claim", FreeWithin: lock.TermAnyTime,
	}
}

// leading is that of one that renews itself: it does not lose the lead where nothing keeps it from that.
func leading() lock.Promise {
	p := led()
	p.Duties = []promise.Duty{promise.DutyRenews}
	return p
}

// cutOff is that of one whose leader steps down before another one may lead, also where it reaches no server.
func cutOff() lock.Promise {
	p := led()
	p.Exclusion = append(p.Exclusion, lock.FaultPause, lock.FaultPartition, lock.FaultLatency, lock.FaultReset)
	return p
}

// sparing is that of a lock whose documentation says how long a client waits between two tries.
func sparing() lock.Promise { return dutiful(promise.DutySpares) }

// dutiful is that of a lock with one more duty.
func dutiful(d promise.Duty) lock.Promise {
	p := lease()
	p.Duties = append(p.Duties, d)
	return p
}

// inTable is that of a row with an end on one PostgreSQL, which has no fault of Redis.
func inTable() lock.Promise { return glue.InTable() }

// explaining is that of a lock whose errors say why.
func explaining() lock.Promise { return dutiful(promise.DutyExplains) }

// heldByWallClock is that of one that renews itself and is right also where wall clocks jump.
func heldByWallClock() lock.Promise { return held(lock.FaultWallClock) }

// withinTTLAndCluster is that of one which is free when its TTL is over and the cluster serves again.
func withinTTLAndCluster() lock.Promise { return within(lock.TermTTLAndCluster) }

// oneAtATime is that of a lock of which nothing is asked but that it has one holder, however slow the network is.
func oneAtATime() lock.Promise {
	return lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultLatency}, SelfExcludes: true,
		ResendExcludes: true}
}
