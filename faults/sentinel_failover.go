package faults

import "locksim/lock/promise"

// SentinelFailover is an operator who orders a Sentinel to replace the primary, by SENTINEL FAILOVER. The Sentinel
// takes no votes, and chooses the replica itself: writes that it had not received are lost, as in any failover (F40).
type SentinelFailover struct {
	// On is the Sentinel: "sen0".
	On string
}

// FailoverStarter is a server that can be ordered to replace the primary.
type FailoverStarter interface {
	// StartFailover starts it, and reports whether it has.
	StartFailover() bool
}

// Kind is "sentinel_failover".
func (SentinelFailover) Kind() string { return "sentinel_failover" }

func (s *SentinelFailover) form() Form {
	return Form{
		Text:   "an operator orders a Sentinel to replace the primary",
		Class:  promise.Failover,
		Stays:  true,
		Fields: []Field{{"on", Name{To: &s.On, Role: Watchers}, "which Sentinel is told"}},
	}
}

// Apply asks the Sentinel for it.
func (s SentinelFailover) Apply(world any) error {
	return askServer(s, world, s.On, func(x FailoverStarter) (effect bool, err error) { return x.StartFailover(), nil })
}

// String is "order sen0 to replace the primary".
func (s SentinelFailover) String() string { return "order " + s.On + " to replace the primary" }
