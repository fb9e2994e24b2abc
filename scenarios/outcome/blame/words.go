package blame

import (
	"fmt"
	"time"

	"locksim/checker"
	"locksim/sim/trace"
)

// words are what is said of a deed.
type words struct {
	// does is what it does, as a clause; "" where the label of the run says it.
	does string
	// says is the event, as a clause; nil where it is no one event.
	says func(Finding) string
	// mend is what to change, as a sentence; "" for a deed that only a fence helps against.
	mend string
}

// vocabulary has the words of each deed. One without says is told by its label.
var vocabulary = map[Deed]words{
	Deletes: {"it deletes a key that another client has", func(f Finding) string {
		return fmt.Sprintf("at step %d %s deleted %s", f.At, f.By, f.key())
	},
		"Mend the lock: it deletes a key that it does not own. Compare the owner and delete in one step, by a " +
			"script or a transaction."},
	Overwrites: {"it writes over a key that another client has", func(f Finding) string {
		return fmt.Sprintf("at step %d %s wrote over %s", f.At, f.By, f.key())
	},
		"Mend the lock: it writes over a key that another client has. Set the key only where there is none (SET " +
			"NX, a transaction), by the server's clock."},
	Prolongs: {"it prolongs a key that another client has", func(f Finding) string {
		return fmt.Sprintf("at step %d %s prolonged %s", f.At, f.By, f.key())
	},
		"Mend the lock: it prolongs a key without a check of its owner. Compare the owner and prolong in one " +
			"step, and tell the holder of the loss if it is another's."},
	Shares: {"two clients have one key", func(f Finding) string {
		switch {
		case f.Server != "":
			return fmt.Sprintf("at step %d %s came by the key %s on %s, which %s had: both use one "+
				"session", f.At, f.By, f.Key, f.Server, f.Of)
		case f.By == f.Of && f.By != "":
			return fmt.Sprintf("at step %d %s was granted the lock by the key of its life before, which had "+
				"crashed", f.At, f.By)
		case f.By != "":
			return fmt.Sprintf("at step %d %s entered as the owner that %s is too", f.At, f.By, f.Of)
		}
		return "two clients are one owner"
	}, "Give each client, and each life of one, an owner id and a session of its own."},
	GivesUp: {"it ends the key of its own holder", func(f Finding) string {
		return fmt.Sprintf("at step %d a request of %s ended its own key%s, which it had the lock "+
			"by", f.At, f.By, f.where())
	}, "Mend the lock: it ends the key of its own holder. Keep the key until Release, and give each request an " +
		"owner id of its own, so that a clean-up that is late finds only what its request left."},
	Retakes: {"it sets its key again after another client had the lock", func(f Finding) string {
		return fmt.Sprintf("at step %d %s set its key%s again, for the grant that it had before %s got the "+
			"lock", f.At, f.By, f.where(), f.Of)
	}, "Mend the lock: a renewal must not set a key that is gone. Return that the lock was lost, and tell the " +
		"holder."},
	Revives: {"it lets a lease hold again that had ended", func(Finding) string {
		return "a lease that had " +
			"ended held again"
	}, checker.FactNamed("revived_claims").Remedy},
	WithoutKey: {"it grants the lock without a key on most of the servers", func(f Finding) string {
		return fmt.Sprintf("at step %d %s was granted the lock, and had its key on no majority of the "+
			"servers", f.At, f.By)
	}, "Mend the lock: grant only what the servers confirm. Look at the answer, such as the count of changed " +
		"rows, ask for more than half of the servers, and let the key live for the TTL."},
	Outlives: {"its holder has the lock for longer than the key lives", func(f Finding) string {
		return fmt.Sprintf("at step %d the key of %s%s ended, and %s went on as the holder", f.At, f.By, f.where(), f.By)
	}, "Mend the lock: its holder has the lock for longer than the key lives. Give the key the TTL of the " +
		"lease, count from the request on by a monotonic clock, less what clocks may drift, and end the lease by " +
		"that clock where the servers do not answer."},
	Unrenewed: {"it stops renewing under its holder", func(f Finding) string {
		return fmt.Sprintf("at step %d the lease of %s ended, although nothing had kept the lock from renewing "+
			"it", f.At, f.By)
	}, "Mend the lock: renew from the grant to the release, and after a renewal that failed try again until " +
		"the lease ends."},
	Admits: {"it lets a second client in while the first one has the lock", func(f Finding) string {
		return fmt.Sprintf("at step %d %s was let in, while %s had the lock", f.At, f.By, f.Of)
	}, "Mend the lock: look whether it is free and take it in one step, by the clock of the server, and keep " +
		"it until the release."},
	Belated: {"it grants a lease that is over", func(f Finding) string {
		return fmt.Sprintf("at step %d %s was granted a lease that was over when the last answer came, while %s had the lock",
			f.At, f.By, f.Of)
	}, "Mend the lock: it grants a lease that is over. Look at the clock after the last answer, and return an error if " +
		"the lease has ended."},
	Mints: {"its tokens do not grow with the grants", nil, "Mend the lock: mint the token in the step that " +
		"takes the lock, one for each grant, from a counter that outlives the key."},
	Leaves: {"it leaves its key behind", func(f Finding) string {
		who := f.By
		if who == "" {
			who = "it"
		}
		return fmt.Sprintf("%s left a key behind%s", who, f.where())
	}, "Mend the lock: delete the key on every way out, under a context that has not ended, and set its TTL in " +
		"the step that sets it."},
	Excludes: {"its own key keeps its client out", func(Finding) string {
		return "the key of a request that " +
			"was not granted kept its own client out"
	}, checker.FactNamed("self_excluded").Remedy},
	Displaces: {"it takes a client that still waits out of its queue", func(f Finding) string {
		return fmt.Sprintf("at step %d a request of %s took the place of %s, which still waited, out of %s on %s",
			f.At, f.By, f.Of, trace.Name(f.Key), f.Server)
	}, "Mend the lock: keep the place of a client that still waits. Let a place last for several requests of its " +
		"client, by the clock of the server, and drop none because the queue is long."},
	TakesStale: {"it takes a write that it should refuse", nil, "Mend the fence: compare the token and write the data " +
		"in one step, on the server that has the data, by a script, a statement or a transaction, and keep the highest " +
		"token there."},
	ForgetsToken: {"it forgets the highest token", nil, "Mend the fence: keep the highest token beside the data, " +
		"without an expiry of its own, so that both are lost together or not at all."},
	LetsOverwrite: {"a stale write takes the place of a newer one", nil, "Mend the fence: compare the token and write " +
		"the data in one step, on the server that has the data, by a script, a statement or a transaction."},
	LosesWrite: {"it loses a write that it has acknowledged", nil, "Mend the store: read from the server that has the " +
		"write, acknowledge what is stored for good, and send each write once, or give each an id."},
	RefusesHolder: {"it refuses a rightful holder", nil, "Mend the fence: keep a highest token for each key, compare as " +
		"numbers of 64 bits, and refuse only what is below it, so that a holder can write twice and try again."},
	RefusesTaken: {"it says of a write that has taken effect that it was refused", nil, "Let the client send each write " +
		"once, with its own retries off, or give each write an id by which the fence knows a second copy, and answers as " +
		"it has answered the first one."},
	Contradicts: {"its answers have no order", nil, "Mend the fence: decide on an operation and carry it out in one " +
		"step, on one server."},
	LateSend: {"", nil, "Let the section look at its lease before it writes."},
	Repeats: {"", nil, "Look after the grant whether the work is done already, or let it be done twice " +
		"without harm."},
	Reenters: {"a section takes the lock that it has, which has no owners", func(f Finding) string {
		if f.By == "" {
			return "a section takes the lock that it has, which has no owners"
		}
		return fmt.Sprintf("at step %d %s released the lock inside its section, and gave back what the section still had: "+
			"the lock has no owners", f.At, f.By)
	}, checker.FactNamed("self_waits").Remedy},
	Uncompared: {"without a lock, a section writes whatever has changed since its read", func(Finding) string {
		return "there is no lock, and a write did not compare what it was based on"
	},
		"Let the store write only if the version is the one that was read, and let the client begin anew otherwise."},
	Tears: {"a section makes its writes one by one", func(Finding) string {
		return "a section ended when it " +
			"had made a part of its writes"
	},
		"Make all writes that belong together in one step, such as a transaction of the store."},
	Released: {"a section writes after it has released the lock", func(f Finding) string {
		return fmt.Sprintf("%s sent %s after it had released the lock", f.By, f.Op)
	},
		"Release the lock after the last write has been answered."},
}

// Does is what the culprit does, as a clause; "" where the label of the run says it.
func (f Finding) Does() string { return vocabulary[f.Deed].does }

// Says is the event that decides, as a clause; "" where it is no one event.
func (f Finding) Says() string {
	if w := vocabulary[f.Deed]; w.says != nil {
		return w.says(f)
	}
	return ""
}

// Mend is what to change, as a sentence; "" where nothing but a fence helps, or another choice.
func (f Finding) Mend() string { return vocabulary[f.Deed].mend }

// Remedy is what would have helped.
type Remedy string

// The remedies, each before the fence that limits the harm.
const (
	MendLock    Remedy = "mend"    // a change of the lock
	MendStore   Remedy = "store"   // a change of the store under test
	MendSection Remedy = "section" // a change of the code under the lock, or of the program
	Choose      Remedy = "choose"  // another lock, other servers, or another fence
	Fence       Remedy = "fence"   // nothing but a fence at the store
	Nothing     Remedy = "none"    // none is needed, or known
)

// Remedy is what to change first.
func (f Finding) Remedy() Remedy {
	switch {
	case f.Culprit == Lock:
		return MendLock
	case f.Culprit == Store:
		return MendStore
	case f.Culprit == Section, f.Culprit == Client:
		return MendSection
	case f.Culprit == Choice:
		return Choose
	case f.Deed != "":
		return Fence
	}
	return Nothing
}

// key names the key of a finding and whose it was.
func (f Finding) key() string {
	left := ""
	switch {
	case f.Left.End == trace.EndTimed && f.Left.Time > 0:
		left = fmt.Sprintf(" and which had %v left", f.Left.Time.Round(time.Millisecond))
	case f.Left.End == trace.EndSession:
		left = " and whose session went on"
	}
	return fmt.Sprintf("the key %s on %s, which %s had set%s", trace.Name(f.Key), f.Server, f.Of, left)
}

// where is the key and its server, as a part of a sentence; "" where they are not known.
func (f Finding) where() string {
	switch {
	case f.Key == "":
		return ""
	case f.Server == "":
		return " " + trace.Name(f.Key)
	}
	return fmt.Sprintf(" %s on %s", trace.Name(f.Key), f.Server)
}
