package search

import (
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
)

// spell draws the length of a fault, or a delay: around the lock's TTL, since that
// is where locks break.
func (d *drawer) spell() time.Duration { return d.part(pick(d, d.manner.spells...)) }

// single is a trouble of one action without a length.
func single(a faults.Action) []step { return []step{{action: a}} }

// timed is a trouble of one action with a length.
func timed(l time.Duration, action func(l time.Duration) faults.Action) []step {
	return []step{{action: action(l), lasts: l}}
}

// comeBack is a crash and, after a while, the restart.
func (d *drawer) comeBack(process string) []step {
	return []step{{action: d.crash(process)}, {action: faults.Restart{Process: process}, later: d.spell()}}
}

// jump draws by how much a wall clock is set: forward or back.
func (d *drawer) jump() time.Duration {
	by := d.part(pick(d, 110, 10, 1000))
	if d.once(2) {
		return -by
	}
	return by
}

// drift makes a clock run too fast or too slow.
func (d *drawer) drift(clock string) []step {
	ppm := int64(pick(d, modestDrift, -modestDrift, 100, -100))
	return timed(10*d.spell(), func(l time.Duration) faults.Action {
		return faults.ClockDrift{Clock: clock, PPM: ppm,
			For: l}
	})
}

// wire draws a part of the network: one client, or some, and one node, some, or
// everything else.
func (d *drawer) wire() (between, and []string, way faults.Direction) {
	between = []string{d.client()}
	if d.once(4) {
		between = some(d, file.Numbered("c", d.sc.World.Clients))
	}
	return between, d.others(), pick(d, faults.Directions()...)
}

// others draws the far side of a link: nodes, or nil for everything.
func (d *drawer) others() []string {
	servers := d.sc.World.Names()
	switch d.from.Below(4) {
	case 0:
		return servers
	case 1:
		return []string{"s0"}
	case 2:
		return some(d, append(servers, "s0"))
	}
	return nil
}

// partition cuts some clients off from some nodes.
func (d *drawer) partition() []step {
	between, and, way := d.wire()
	bytes := pick(d, faults.BytesHold, faults.BytesDrop)
	return timed(d.spell(), func(l time.Duration) faults.Action {
		return faults.Partition{Between: between, And: and, For: l, Bytes: bytes, Direction: way}
	})
}

func (d *drawer) replica() string {
	return d.sc.World.ReplicaNames()[d.from.Below(d.sc.World.Replicas)]
}

// informed draws the clients that learn of a new primary: all, or some.
func (d *drawer) informed() []string {
	if d.once(3) {
		return some(d, file.Numbered("c", d.sc.World.Clients))
	}
	return nil
}
