package play

import (
	"time"

	"locksim/faults"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
)

// limits are how long the parts of a run may take.
type limits struct {
	sc   *file.Scenario
	real bool // in real time: see [On]
}

// enoughTime is far more virtual time than the clients need, even if each waits for
// the leases of all others in every round, and all faults come one after another.
func (l limits) enoughTime() time.Duration {
	w := l.sc.Workload
	round := w.Working() + w.Stop + w.Think + w.Timeout + l.sc.Lock.TTL + l.sc.Lock.Backoff.Max + time.Second
	if w.Beside {
		round *= 2
	}
	starts := l.sc.World.Clients
	total := w.Stagger * time.Duration(starts)
	for _, f := range l.sc.Faults {
		total += f.At + f.After
		if f.Times > 0 {
			total += time.Duration(f.Times-1) * f.Every
		}
		if _, again := f.Action.(faults.Restart); again {
			starts += min(f.Most(), mostStarts)
		}
	}
	total += 2 * round * time.Duration(w.Rounds*starts)
	for _, f := range l.sc.Faults {
		total += time.Duration(strikesWithin(f, total)) * extraTime(f.Action)
	}
	return total
}

// mostStarts is how many times a client is restarted, at most, by a fault that strikes again and again, for a limit of
// time: each restart begins the rounds anew.
const mostStarts = 16

// strikesWithin is how often a fault may strike while a workload goes on that takes so long without it.
func strikesWithin(f faults.Fault, work time.Duration) int {
	if f.Every == 0 {
		return 1
	}
	return int(min(int64(f.Most()), 1+int64(work/f.Every)))
}

// acquireLimit is how long a client asks for the lock before it gives up. By then
// no client can hold the lock any more.
func (l limits) acquireLimit() time.Duration {
	if l.real { // time costs something
		return l.enoughTime() + 5*time.Second
	}
	return l.enoughTime() + time.Minute
}

// workLimit is the virtual time by which every client has ended its workload, unless one waits for ever: one that asks
// for the lock when the world is healed gives up by twice the limit of an Acquire, and its release may take a while.
func (l limits) workLimit() time.Duration {
	return l.enoughTime() + 2*l.acquireLimit() + 10*time.Minute
}

// runLimit is the virtual time after which a run is aborted: the probe asks for a while after the workload.
func (l limits) runLimit() time.Duration { return l.workLimit() + 3*l.probeLimit() + time.Hour }

// probeLimit is the longest time for which the probe waits for the keys of a lock to expire.
func (l limits) probeLimit() time.Duration { return evidence.ProbeLimit(l.acquireLimit()) }

// retries is how often a release that failed is called again at once.
func (l limits) retries() int {
	if l.sc.Workload.Release == file.ReleaseRetried {
		return repeats
	}
	return 0
}

// manyTimes is more than the number of times that a round waits for a timer or a
// message that a fault delays.
const manyTimes = 50

// extraTime is how much longer a run may take because of an action: the length and
// the offset of the fault, and for each delayed message or timer its delay.
func extraTime(a faults.Action) time.Duration {
	var total time.Duration
	form, _ := faults.Open(a)
	for _, field := range form.Fields {
		switch holds := field.Holds.(type) {
		case faults.Length:
			total += *holds.To
		case faults.Offset:
			late := max(*holds.To, -*holds.To) // on a clock that was set back a key exists so much longer (F19)
			if holds.Each {
				late *= manyTimes
			}
			total += late
		}
	}
	return total
}
