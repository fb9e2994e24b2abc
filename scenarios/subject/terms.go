package subject

import (
	"time"

	"locksim/scenarios/evidence"
)

// Terms are what the lock is judged by.
func (l Lock) Terms() evidence.Terms {
	t := evidence.Terms{
		Promise: l.Promise, Lease: l.Lease, Detection: l.Detection, LeaseTTL: l.heldFor(), Named: len(l.Taken) > 0,
		Nodes: l.Nodes(), Voters: l.voters(), Quorum: l.Quorum, Replicas: l.Replicas, Watched: l.watched(),
		Sharded: l.sharded(),
		Settles: l.settles(),
		Late:    l.late(), FollowsSpec: l.FollowsSpec, Pause: l.Pause, Messages: l.Messages, GrantTime: l.GrantTime,
		Section: l.Section.Run != nil, Writes: l.Section.Writes,
	}
	if l.TestsFence() {
		t.Fence = l.Data.Rule
	}
	for _, s := range l.Servers {
		if s.Kind.Leader != "" {
			t.Leaders = append(t.Leaders, s.Kind.Leader)
		}
	}
	return t
}

// heldFor is how long a lease that is held lasts after the last write of its holder, if the lock says it.
func (l Lock) heldFor() time.Duration {
	if l.Lease == LeaseHeld {
		return l.LeaseTTL
	}
	return 0
}
