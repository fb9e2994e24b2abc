// Package blame says whose fault the end of a run is, from what the clients saw and what the servers recorded: no text
// is read. [Find] goes through a table, in the order lock, section, choice, client, network, no one, and the first row
// that finds its fact decides.
package blame

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// Culprit is whose fault the end of a run is.
type Culprit string

// The culprits, in the order in which they are asked about.
const (
	// Lock is the lock: what it does breaks it.
	Lock Culprit = "lock"
	// Store is a protected store that is itself under test: its answers break the rule of its fence.
	Store Culprit = "fence"
	// Section is the code under the lock, or the adapter between the two.
	Section Culprit = "section"
	// Choice is the choice of a lock that relies on something which failed, and does not promise to survive that.
	Choice Culprit = "choice"
	// Client is the client: it wrote after an end that it could know.
	Client Culprit = "client"
	// Network is the network: what was sent in time was late.
	Network Culprit = "network"
	// NoOne is nobody: nothing went wrong, or nobody could have known.
	NoOne Culprit = "no one"
	// Unknown is a run that does not tell.
	Unknown Culprit = "unknown"
)

// Deed is what decided the end of a run.
type Deed string

// The deeds of a lock.
const (
	Deletes    Deed = "deletes"     // it deletes a key that another client set
	Overwrites Deed = "overwrites"  // it writes over a key that another client has
	Prolongs   Deed = "prolongs"    // it prolongs a key that another client has
	GivesUp    Deed = "gives-up"    // it gives its key up while its client has the lock
	Retakes    Deed = "retakes"     // it sets its key again after another client had the lock
	Revives    Deed = "revives"     // it lets a lease hold again that had ended
	Shares     Deed = "shares"      // several clients have one key, or one owner
	WithoutKey Deed = "without-key" // it grants what its key on the servers does not say
	Outlives   Deed = "outlives"    // its claim lasts longer than its key
	Unrenewed  Deed = "unrenewed"   // it stops renewing a key under its holder
	Admits     Deed = "admits"      // it lets a second client in; the record does not say how
	Belated    Deed = "belated"     // it grants a lease that is over
	Mints      Deed = "mints"       // its tokens do not grow with the grants
	Leaves     Deed = "leaves"      // it leaves its key behind
	Excludes   Deed = "excludes"    // its own key keeps its client out
	Refuses    Deed = "refuses"     // it does not grant what is free
	Hangs      Deed = "hangs"       // a call does not return
	Displaces  Deed = "displaces"   // it takes a client that still waits out of its queue
	Overtakes  Deed = "overtakes"   // it grants out of order
	Repeats    Deed = "repeats"     // the work is done twice
	Voids      Deed = "void"        // it grants nothing
	Misbehaves Deed = "duty"        // a call does not do what is promised
	Panics     Deed = "panics"      // its code panics
)

// The deeds of a store under test.
const (
	TakesStale    Deed = "takes-stale"    // it takes a write that it should refuse
	ForgetsToken  Deed = "forgets-token"  // it did refuse such writes, and takes one
	LetsOverwrite Deed = "lets-overwrite" // a stale write takes the place of a newer one
	LosesWrite    Deed = "loses-write"    // it loses a write that it has acknowledged
	RefusesHolder Deed = "refuses-holder" // it refuses a rightful holder
	RefusesTaken  Deed = "refuses-taken"  // it refuses a write that has taken effect, such as a second copy of it
	Contradicts   Deed = "contradicts"    // its answers have no order
)

// The deeds of others.
const (
	Released    Deed = "released"     // a section writes after it has released the lock
	Reenters    Deed = "reenters"     // a section takes the lock that it has, which has no owners
	Tears       Deed = "tears"        // a section makes a part of its writes
	Uncompared  Deed = "uncompared"   // without a lock, a section writes whatever has changed since its read
	Unsurvived  Deed = "unsurvived"   // something failed, and the lock does not promise to survive it
	Rejects     Deed = "rejects"      // a fence that compares no tokens refuses a rightful holder
	Forgets     Deed = "forgets"      // a server loses the key, or ends it early, or a clock is wrong
	LateSend    Deed = "late-send"    // a client sends a write after its lease has ended
	LateArrival Deed = "late-arrival" // a write that was sent in time arrives too late
	StoodStill  Deed = "stood-still"  // a process does not run between its last look and its write
	Blind       Deed = "blind"        // a client that is cut off cannot learn that its lock is another's
)

// Finding is the fact that decides.
type Finding struct {
	Culprit Culprit `json:"culprit"`
	Deed    Deed    `json:"deed,omitempty"`
	// At is the step of the event that decides; 0 where it is no one event.
	At checker.Pos `json:"at,omitempty"`
	// By did it, to Of; Server is where, and Key the key. Each may be "".
	By     string `json:"by,omitempty"`
	Of     string `json:"of,omitempty"`
	Server string `json:"server,omitempty"`
	Key    string `json:"key,omitempty"`
	// Left is the time that the key had left.
	Left trace.TimeLeft `json:"left,omitzero"`
	// Op is the write that a client or the network is to blame for; "" for none.
	Op string `json:"op,omitempty"`
	// After is how long after the end of its lease the client sent Op or, of one that was late, the store decided on it;
	// Ran is how much of that the client ran.
	After time.Duration `json:"after_ns,omitzero"`
	Ran   time.Duration `json:"ran_ns,omitzero"`
	// Told says that the client was told of the end of its lease, which had ended before, perhaps long before.
	Told bool `json:"told,omitempty"`
	// Besides is what led to the first stale write, where that came before what the lock did.
	Besides *Finding `json:"besides,omitempty"`
	// Failed are the classes of fault that the choice of the lock has to answer for.
	Failed []promise.Fault `json:"failed,omitempty"`
}

// Case is a run, with all that its judge knew.
type Case struct {
	Scenario *file.Scenario
	Mode     fence.Mode
	Verdict  checker.Verdict
	History  checker.History
	// Terms are what the lock is judged by, Record what the driver has seen. Record may be nil: then the servers say
	// nothing.
	Terms  evidence.Terms
	Record *evidence.Record
	// Failed are the classes of fault that struck and after which servers or clocks do not do what the lock relies on,
	// such as lost keys, and which it does not promise to survive. Unpromised are all that a lock with a promise does not
	// promise to survive.
	Failed, Unpromised []promise.Fault
}

// Find says whose fault the end of a run is.
func Find(c Case) Finding {
	r := read(c)
	if c.Verdict.Label.Clean() {
		return Finding{Culprit: NoOne}
	}
	for _, row := range rules {
		if !row.concerns(r) {
			continue
		}
		if f := row.find(r); f != nil {
			f.Culprit, f.Deed = row.culprit, row.deed
			f.Besides = r.besides(*f)
			return *f
		}
	}
	return Finding{Culprit: Unknown}
}

// besides finds what led to a stale write that came before what the lock did.
func (r *reading) besides(f Finding) *Finding {
	s := r.staleOp()
	if f.Culprit != Lock || s == nil || f.At <= s.Applied || r.Verdict.Facts.ClaimOverlaps > 0 {
		return nil
	}
	for _, row := range rules {
		if row.culprit == Lock || !row.concerns(r) {
			continue
		}
		if other := row.find(r); other != nil && other.At == s.Applied {
			other.Culprit, other.Deed = row.culprit, row.deed
			return other
		}
	}
	return nil
}

// rule is a row of the table: a fact, and whose fault it is.
type rule struct {
	culprit  Culprit
	deed     Deed
	concerns func(*reading) bool
	find     func(*reading) *Finding
}

// rules is the table. The first row that finds its fact decides.
var rules = []rule{
	{Lock, Panics, ever, fact(func(f checker.Facts) bool { return f.Panics > 0 })},

	// A store under test is judged by its answers alone, whatever the lock does.
	{Store, ForgetsToken, onTrial, fact(func(f checker.Facts) bool { return f.StaleForgotten > 0 })},
	{Store, TakesStale, onTrial, fact(func(f checker.Facts) bool { return f.StaleAccepted > 0 })},
	{Store, LetsOverwrite, onTrial, fact(func(f checker.Facts) bool { return f.Overwritten > 0 })},
	{Store, LosesWrite, onTrial, fact(func(f checker.Facts) bool { return f.LostUpdates > 0 })},
	{Store, Contradicts, onTrial, fact(func(f checker.Facts) bool { return f.Unexplained > 0 })},
	{Store, RefusesTaken, onTrial, (*reading).refusedTaken},
	{Store, RefusesHolder, onTrial, fact(func(f checker.Facts) bool { return f.FalseRejects > 0 })},

	// There is no lock: only the comparison of what was read keeps the data right.
	{Section, Uncompared, exclusive, (*reading).uncompared},

	// Its program gives two clients one owner: what the lock does then is what it was told.
	{Section, Shares, twoIn, (*reading).oneOwner},
	{Section, Reenters, twoIn, (*reading).givesBack},

	// What the lock does to the key of another, or to its own.
	{Lock, Deletes, twoIn, (*reading).deletes},
	{Lock, Overwrites, twoIn, (*reading).overwrites},
	{Lock, Prolongs, twoIn, (*reading).prolongs},
	{Lock, Shares, twoIn, (*reading).shares},
	{Lock, GivesUp, twoIn, (*reading).givesUp},
	{Lock, Retakes, twoIn, (*reading).retakes},
	{Lock, Revives, twoIn, fact(func(f checker.Facts) bool { return f.RevivedClaims > 0 })},

	// Where nothing failed on which it relies: what it says of its key, and what it does not do for it.
	{Lock, Mints, tokens, fact(func(f checker.Facts) bool { return f.TokenRegressions+f.TokenDuplicates > 0 })},
	{Lock, WithoutKey, sound, (*reading).withoutKey},
	{Lock, Outlives, sound, (*reading).outlives},
	{Lock, Unrenewed, sound, (*reading).unrenewed},
	{Lock, Admits, sound, (*reading).admits},

	{Section, Released, exclusive, (*reading).released},
	{Choice, Forgets, exclusive, (*reading).forgets},
	{Lock, Belated, exclusive, (*reading).belated},
	{NoOne, StoodStill, exclusive, (*reading).stoodStill},
	{Client, LateSend, exclusive, (*reading).lateSend},
	{Network, LateArrival, exclusive, (*reading).lateArrival},
	{NoOne, Blind, exclusive, (*reading).blind},
	{Section, Tears, exclusive, fact(func(f checker.Facts) bool { return f.TornSections > 0 })},

	// What ended otherwise.
	{Section, Reenters, stuck, (*reading).keepsItselfOut},
	{Choice, Unsurvived, undermined, (*reading).unsurvived},
	{Lock, Excludes, stuck, fact(func(f checker.Facts) bool { return f.SelfExcluded > 0 })},
	{Lock, Leaves, stuck, (*reading).leaves},
	{Lock, Displaces, labelled(checker.Stuck, checker.Overtaken), (*reading).displaces},
	{Lock, Refuses, stuck, said},
	{Lock, Hangs, labelled(checker.Hung), said},
	{Lock, Mints, labelled(checker.Regressed), said},
	{Lock, Mints, refused, said},
	{Choice, Rejects, labelled(checker.FalseReject), said},
	{Lock, Voids, labelled(checker.Void), said},
	{Lock, Misbehaves, labelled(checker.Misconduct), said},
	{Lock, Overtakes, labelled(checker.Overtaken), said},
	{Lock, Repeats, labelled(checker.Repeated), fact(func(f checker.Facts) bool { return f.WorkTwice > 0 })},
	{Client, LateSend, labelled(checker.Repeated), (*reading).lateSend},
	{Section, Repeats, labelled(checker.Repeated), said},
}

// Exclusive reports whether a label is about two clients that had the lock at once, or about the data.
func Exclusive(l checker.Label) bool {
	return l == checker.Corrupted || l == checker.Rescued || l == checker.Overlap
}

func ever(*reading) bool     { return true }
func said(*reading) *Finding { return &Finding{} }

// onTrial reports whether a run is about the answers of a store under test.
func onTrial(r *reading) bool {
	label := r.Verdict.Label
	return r.History.Fence != "" && (label == checker.Corrupted || label == checker.FalseReject)
}

func exclusive(r *reading) bool { return Exclusive(r.Verdict.Label) }

// twoIn reports whether a run is about two clients at once, also where another label hides that.
func twoIn(r *reading) bool {
	label := r.Verdict.Label
	return exclusive(r) || label == checker.Revived || label == checker.Regressed ||
		label == checker.FalseReject && r.Mode != fence.None
}

// tokens reports whether the tokens decide: a fence had them, and nothing failed that keeps them.
func tokens(r *reading) bool { return exclusive(r) && r.Mode.NeedsToken() && len(r.Failed) == 0 }

// sound reports whether two clients were in at once, although nothing failed on which the lock relies.
func sound(r *reading) bool { return exclusive(r) && len(r.Failed) == 0 }

// undermined reports whether something failed on which the lock relies. One that asks a majority does not rely on the
// others.
func undermined(r *reading) bool {
	struck := 0
	if r.History.Timing != nil {
		struck = len(r.History.Timing.Struck)
	}
	minority := r.Terms.Voters > 1 && struck > 0 && 2*struck < r.Terms.Voters
	return !exclusive(r) && (len(r.Failed) > 0 && !minority || len(r.Unpromised) > 0)
}

// refused reports whether a fence refused the token of a rightful holder.
func refused(r *reading) bool { return r.Verdict.Label == checker.FalseReject && r.Mode.NeedsToken() }

func stuck(r *reading) bool { return r.Verdict.Label == checker.Stuck }

func labelled(labels ...checker.Label) func(*reading) bool {
	return func(r *reading) bool { return slices.Contains(labels, r.Verdict.Label) }
}

func fact(has func(checker.Facts) bool) func(*reading) *Finding {
	return func(r *reading) *Finding {
		if !has(r.Verdict.Facts) {
			return nil
		}
		return &Finding{At: r.decisive()}
	}
}
