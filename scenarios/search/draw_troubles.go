package search

import (
	"slices"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
)

// troubles are all kinds of trouble that a world can have, the simplest first.
func troubles(w file.World) []trouble {
	all := slices.Concat(processTroubles, clockTroubles, networkTroubles, nodeTroubles)
	if w.Redis == 0 { // servers of other kinds need not have these faults
		all = slices.DeleteFunc(all, func(t trouble) bool {
			return slices.Contains(redisTroubles, t.name) && !clustered(w) || t.name == exhaustPool &&
				!slices.ContainsFunc(w.Servers, hasPools) ||
				slices.ContainsFunc(w.Servers, func(s file.ServerCount) bool { return t.lackedBy(s) })
		})
	}
	switch {
	case watched(w):
		all = append(all, watchedTroubles...)
	case clustered(w):
		all = append(all, clusterTroubles...)
	case w.Replicas > 0:
		all = append(all, replicaTroubles...)
	}
	if len(w.Granting()) >= 3 && !clustered(w) { // there one node has the lock
		all = append(all, quorumTroubles...)
	}
	return all
}

var processTroubles = []trouble{
	{"pause", []faults.Action{faults.Pause{}}, func(d *drawer) []step {
		return timed(d.spell(), func(l time.Duration) faults.Action { return faults.Pause{Process: d.client(), For: l} })
	}, often},
	{"crash", []faults.Action{faults.Crash{Process: "c0"}}, func(d *drawer) []step {
		return single(d.crash(d.client()))
	}, often},
	{"come-back", []faults.Action{faults.Crash{Process: "c0"}, faults.Restart{Process: "c0"}}, func(d *drawer) []step {
		return d.comeBack(d.client())
	}, seldom},
	{"slow", []faults.Action{faults.Slow{}}, func(d *drawer) []step {
		by := d.part(pick(d, 10, 1, 50, 100))
		return timed(d.spell(), func(l time.Duration) faults.Action {
			return faults.Slow{Process: d.client(), By: by,
				For: l}
		})
	}, often},
	{"kill_worker", []faults.Action{faults.KillWorker{}}, func(d *drawer) []step {
		return single(faults.KillWorker{Process: d.client()})
	}, seldom},
	{exhaustPool, []faults.Action{faults.ExhaustPool{}}, func(d *drawer) []step {
		return timed(d.spell(), func(l time.Duration) faults.Action {
			return faults.ExhaustPool{Process: d.client(),
				For: l}
		})
	}, often},
}

// clockTroubles strike clients and nodes. The rates of two clocks differ by less
// than the hundredth that a Redlock allows.
var clockTroubles = []trouble{
	{"clock_jump", []faults.Action{faults.ClockJump{Clock: "c0", By: time.Second}}, func(d *drawer) []step {
		return single(faults.ClockJump{Clock: d.client(), By: d.jump()})
	}, often},
	{"clock_drift", []faults.Action{faults.ClockDrift{Clock: "c0", PPM: modestDrift}}, func(d *drawer) []step {
		return d.drift(d.client())
	}, often},
	{"node-clock-drift", []faults.Action{faults.ClockDrift{Clock: "r0", PPM: modestDrift}}, func(d *drawer) []step {
		return d.drift(d.node())
	}, often},
	{"clock_freeze", []faults.Action{faults.ClockFreeze{Clock: "c0"}}, func(d *drawer) []step {
		return timed(d.spell(), func(l time.Duration) faults.Action { return faults.ClockFreeze{Clock: d.client(), For: l} })
	}, often},
	{"node-clock-freeze", []faults.Action{faults.ClockFreeze{Clock: "r0"}}, func(d *drawer) []step {
		return timed(d.spell(), func(l time.Duration) faults.Action { return faults.ClockFreeze{Clock: d.node(), For: l} })
	}, often},
	{"node-clock-jump", []faults.Action{faults.ClockJump{Clock: "r0", By: time.Second}}, func(d *drawer) []step {
		return single(faults.ClockJump{Clock: d.node(), By: d.jump()})
	}, often},
}

// modestDrift is the most by which a drawn clock drifts, in millionths: two of
// them, one too fast and one too slow, stay within a hundredth.
const modestDrift = 4_900

var networkTroubles = []trouble{
	{"partition", []faults.Action{faults.Partition{}}, (*drawer).partition, often},
	{"latency", []faults.Action{faults.Latency{}}, func(d *drawer) []step {
		between, and, way := d.wire()
		add, jitter := d.part(pick(d, 5, 1, 20, 100)), d.part(pick(d, 1, 10, 50))
		return timed(d.spell(), func(l time.Duration) faults.Action {
			return faults.Latency{Between: between, And: and, Add: add, Jitter: jitter, For: l, Direction: way}
		})
	}, often},
	{"delay_message", []faults.Action{faults.DelayMessage{}}, func(d *drawer) []step {
		between, and, way := d.wire()
		return single(faults.DelayMessage{Between: between, And: and, By: d.spell(), Direction: way})
	}, often},
	{"lose_reply", []faults.Action{faults.LoseReply{}}, func(d *drawer) []step {
		between, and, _ := d.wire()
		return single(faults.LoseReply{Between: between, And: and, Count: 1 + d.from.Below(3)})
	}, often},
	{"reset", []faults.Action{faults.Reset{}}, func(d *drawer) []step {
		return single(faults.Reset{Between: []string{d.client()}, And: []string{d.host()}})
	}, often},
	{"bandwidth", []faults.Action{faults.Bandwidth{}}, func(d *drawer) []step {
		between, and, way := d.wire()
		rate := pick(d, 10, 1, 100)
		return timed(d.spell(), func(l time.Duration) faults.Action {
			return faults.Bandwidth{Between: between, And: and, Rate: rate, For: l, Direction: way}
		})
	}, often},
	{"slice", []faults.Action{faults.Slice{}}, func(d *drawer) []step {
		between, and, way := d.wire()
		size, delay := pick(d, 16, 1, 64), pick(d, 0, time.Millisecond)
		return timed(d.spell(), func(l time.Duration) faults.Action {
			return faults.Slice{Between: between, And: and, Size: size, Delay: delay, For: l, Direction: way}
		})
	}, often},
	{"slow_close", []faults.Action{faults.SlowClose{}}, func(d *drawer) []step {
		between, and, way := d.wire()
		delay := d.spell()
		return timed(d.spell(), func(l time.Duration) faults.Action {
			return faults.SlowClose{Between: between, And: and, Delay: delay, For: l, Direction: way}
		})
	}, often},
	{"refuse", []faults.Action{faults.Refuse{Node: "r0"}}, func(d *drawer) []step {
		return timed(d.spell(), func(l time.Duration) faults.Action { return faults.Refuse{Node: d.host(), For: l} })
	}, often},
}

var nodeTroubles = []trouble{
	{"stall", []faults.Action{faults.Stall{Node: "r0"}}, func(d *drawer) []step {
		return timed(d.spell(), func(l time.Duration) faults.Action { return faults.Stall{Node: d.host(), For: l} })
	}, often},
	{"read_only", []faults.Action{faults.ReadOnly{Node: "r0"}}, func(d *drawer) []step {
		return timed(d.spell(), func(l time.Duration) faults.Action { return faults.ReadOnly{Node: d.node(), For: l} })
	}, often},
	{"flush-scripts", []faults.Action{faults.Flush{Node: "r0", What: faults.FlushScripts}}, func(d *drawer) []step {
		return single(faults.Flush{Node: d.node(), What: faults.FlushScripts})
	}, often},
	{"flush-keys", []faults.Action{faults.Flush{Node: "r0", What: faults.FlushKeys}}, func(d *drawer) []step {
		return single(faults.Flush{Node: d.node(), What: faults.FlushKeys})
	}, often},
	{"evict", []faults.Action{faults.Evict{Node: "r0"}}, func(d *drawer) []step {
		return single(faults.Evict{Node: d.node(), Policy: pick(d, faults.EvictionPolicies()...), Keys: 1 + d.from.Below(3)})
	}, often},
	{"node-crash", []faults.Action{faults.Crash{Process: "r0"}, faults.Restart{Process: "r0"}}, func(d *drawer) []step {
		return d.comeBack(d.node())
	}, seldom},
}

// redisTroubles are those that a server of another kind need not support.
var redisTroubles = []string{"read_only", "flush-scripts", "flush-keys", "evict"}

const exhaustPool = "exhaust_pool"

// hasPools reports whether the clients of such servers have pools of connections: the kind says what it lacks, and this
// is not in the list.
func hasPools(s file.ServerCount) bool {
	return len(s.Lacks) > 0 && !slices.Contains(s.Lacks, exhaustPool)
}

var replicaTroubles = []trouble{
	{"failover", []faults.Action{faults.Failover{}}, func(d *drawer) []step {
		return single(faults.Failover{To: d.replica(), Old: pick(d, faults.OldPrimaries()...), Clients: d.informed()})
	}, seldom},
}

// watched reports whether some servers of a world watch the primary.
func watched(w file.World) bool {
	return slices.ContainsFunc(w.Servers, func(s file.ServerCount) bool { return s.Watches })
}

func clustered(w file.World) bool { return owner(w) != "" }

// owner is the name of whichever node of a Redis Cluster has the lock; "" in a world without one.
func owner(w file.World) string {
	for _, s := range w.Servers {
		if s.Cluster {
			return s.Leader
		}
	}
	return ""
}

// clusterTroubles are those of the operator of a Redis Cluster, and a failover.
var clusterTroubles = []trouble{
	{"owner-crash", []faults.Action{faults.Crash{Process: "r0"}}, func(d *drawer) []step {
		return single(d.crash(owner(d.sc.World)))
	}, seldom},
	{"cluster_failover", []faults.Action{faults.ClusterFailover{On: "rc3"}}, func(d *drawer) []step {
		return single(faults.ClusterFailover{On: d.participant(faults.ClusterNodes), Mode: pick(d,
			faults.FailoverModes()...)})
	}, seldom},
	{"move_slot", []faults.Action{faults.MoveSlot{To: "rc1"}}, func(d *drawer) []step {
		return single(faults.MoveSlot{To: d.participant(faults.ClusterNodes), Until: pick(d, faults.MoveSteps()...)})
	}, seldom},
}

// watchedTroubles make others replace the primary, where some watch it. A promotion by hand, of which they are not
// told, is none of theirs.
var watchedTroubles = []trouble{
	{"sentinel_failover", []faults.Action{faults.SentinelFailover{On: "sen0"}}, func(d *drawer) []step {
		return single(faults.SentinelFailover{On: d.participant(faults.Watchers)})
	}, seldom},
	{"primary-crash", []faults.Action{faults.Crash{Process: "r0"}}, func(d *drawer) []step {
		return single(d.crash("r0"))
	}, seldom},
}

// syncTroubles keep a lock from its replicas, for one that waits until they have its key.
var syncTroubles = []trouble{
	{"replica-cut", []faults.Action{faults.Partition{}}, func(d *drawer) []step {
		bytes := pick(d, faults.BytesHold, faults.BytesDrop)
		return timed(d.spell(), func(l time.Duration) faults.Action {
			return faults.Partition{Between: []string{d.replica()}, And: []string{"r0"}, For: l, Bytes: bytes}
		})
	}, often},
}

// quorumTroubles strike a minority of the nodes for the whole workload: a majority
// goes on.
var quorumTroubles = []trouble{
	{"dead-node", []faults.Action{faults.Partition{}}, func(d *drawer) []step {
		bytes := pick(d, faults.BytesHold, faults.BytesDrop)
		return single(faults.Partition{Between: file.Numbered("c", d.sc.World.Clients), And: []string{d.node()}, Bytes: bytes,
			Direction: faults.DirectionBoth})
	}, always},
}
