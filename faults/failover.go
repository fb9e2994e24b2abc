package faults

import (
	"fmt"
	"strings"

	"locksim/lock/promise"
)

// Failover makes a replica the primary, with what it has by then. Redis
// replicates asynchronously: writes that it had not heard of are lost, a lock
// or a counter among them (F09, F40, F41), and what it had not heard the end of
// is there again (F43).
type Failover struct {
	// To is the replica that takes over. Empty means the first, FirstReplica.
	To string
	// Old is what becomes of the old primary. Empty means OldFenced.
	Old OldPrimary
	// Clients is who is told of the new primary. Empty means all of them. The
	// others go on talking to the old one, if it lets them (F42).
	Clients []string
}

// FirstReplica is the first replica of r0, the default target of a
// failover.
const FirstReplica = "r0a"

// OldPrimary is what becomes of the old primary in a failover.
type OldPrimary string

const (
	// OldFenced shuts it off: it answers no client any more.
	OldFenced OldPrimary = "fenced"
	// OldServing lets it serve those who have not been told: two primaries, a
	// split brain.
	OldServing OldPrimary = "serving"
	// OldDemoted makes it a replica of the new primary. The writes that only it
	// had are lost.
	OldDemoted OldPrimary = "demoted"
)

// OldPrimaries lists what can become of an old primary, the default first. The
// caller owns the slice.
func OldPrimaries() []OldPrimary { return []OldPrimary{OldFenced, OldServing, OldDemoted} }

// Promoter is a world whose replicas can take over.
type Promoter interface {
	// Promote makes f.To the primary now. f.To and f.Old are never empty. It
	// returns an error when there is no such replica or client.
	Promote(f Failover) error
}

// Kind is "failover".
func (Failover) Kind() string { return "failover" }

func (f *Failover) form() Form {
	return Form{
		Text:  "a replica takes over with what it has",
		Class: promise.Failover,
		Stays: true,
		Fields: []Field{
			{"to", Name{To: &f.To, Role: Family, Default: FirstReplica}, "which one takes over"},
			{"old", Word{(*string)(&f.Old), texts(OldPrimaries())}, "what becomes of the old primary"},
			{"clients", Names{To: &f.Clients, Role: Clients, Default: "all of them"}, "who is told of the new primary"},
		},
	}
}

// Apply asks a Promoter for it.
func (f Failover) Apply(world any) error {
	f = filled(f)
	return ask(f, world, func(w Promoter) error { return w.Promote(f) })
}

// String is "fail over to r0a (old primary fenced)", "fail over to r0a for c1
// (old primary serving)".
func (f Failover) String() string {
	f = filled(f)
	who := ""
	if len(f.Clients) > 0 {
		who = " for " + strings.Join(f.Clients, ", ")
	}
	return fmt.Sprintf("fail over to %s%s (old primary %s)", f.To, who, f.Old)
}
