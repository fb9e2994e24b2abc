package play

import (
	"slices"
	"sync/atomic"
	"time"

	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// terms are what the lock is judged by.
func (l Lock) terms() evidence.Terms {
	t := evidence.Terms{
		Promise: l.Promise, Lease: l.Lease, Detection: l.Detection, LeaseTTL: l.heldFor(), Named: len(l.Taken) > 0,
		Nodes: l.Nodes(), Voters: l.voters(), Quorum: l.Quorum, Replicas: l.Replicas, Watched: l.watched(),
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

// record is what was seen of the run up to now, without its timeline.
func (p *play) record() *evidence.Record {
	ground := p.world.Ground()
	rec := &evidence.Record{
		Live: p.real, Over: p.overAt, AskedFor: p.acquireLimit(), Waiting: p.waiting, Loops: p.loops,
		Faults: p.schedule.record(), Learnt: p.lock.learns(), Changes: ground.KeyChanges(), ChangesBefore: p.probe.changes,
		Decisions: ground.Decisions(), Final: p.final, Last: p.last, Left: p.probe.left,
		Ended: ground.Servers(), Probe: p.probe.Probe,
	}
	for _, c := range p.clients {
		rec.Clients = append(rec.Clients, c.record())
	}
	for _, s := range rec.Ended {
		rec.Servers = append(rec.Servers, s.Server)
	}
	if p.lock.Keys != nil {
		rec.Keys = map[string][]string{}
		for _, resource := range p.resources() {
			rec.Keys[resource] = p.lock.Keys(resource)
		}
	}
	if p.lock.Queue != nil {
		rec.Queues = map[string]string{}
		for _, resource := range p.resources() {
			rec.Queues[resource] = p.lock.Queue(resource)
		}
	}
	return rec
}

// recordWith is the record with the timeline of a trace.
func (p *play) recordWith(t *trace.Trace) *evidence.Record {
	rec := p.record()
	rec.Timeline = evidence.TimelineOf(t, rec.ClientNames())
	rec.Timeline.Refusals = evidence.RefusalsOf(t, rec.ClientNames(), rec.Changes)
	return rec
}

// record is what became of each fault.
func (s *schedule) record() []evidence.Fault {
	out := make([]evidence.Fault, len(s.felt))
	for i := range s.felt {
		f := &s.felt[i]
		f.mu.Lock()
		out[i] = evidence.Fault{Fired: s.fired[i], Struck: f.struck, Felt: slices.Clone(f.times), Unable: s.unable[i]}
		f.mu.Unlock()
	}
	return out
}

// record is what the client did.
func (c *client) record() evidence.Client {
	out := evidence.Client{Name: c.proc.Name(), Tries: c.tried, Lapsed: c.lapsed, GaveUp: c.gaveUp, Longest: c.longest,
		Crashed: c.view.Crashed()}
	for _, g := range c.grants {
		out.Grants = append(out.Grants, g.record())
	}
	for _, a := range c.attempts {
		a.ContextEnded = instant(a.ended)
		out.Attempts = append(out.Attempts, a.Attempt)
	}
	return out
}

// record is the grant, with what was done under it.
func (g *grant) record() evidence.Grant {
	out := evidence.Grant{Grant: g.Grant, Ops: g.ops, Calls: g.calls, Returned: g.returnedAt, OverAtOnce: g.overAtOnce,
		LostAtOnce: g.lostAtOnce,
		LossKnown:  g.lostBefore, LossChecked: g.lossChecked, LostValues: int(g.values.Load())}
	out.ContextEnded, out.LeaseEnded = instant(g.ended), instant(g.over)
	if g.sent != nil { // the run ended before
		out.Ops, out.Unfinished = append(slices.Clip(g.ops), *g.sent), true
	}
	if g.calledBack != nil {
		out.Started, out.Stopped = g.calledBack()
	}
	return out
}

// instant is what [play.watchEnd] has stored; 0 for nil.
func instant(at *atomic.Int64) time.Duration {
	if at == nil {
		return 0
	}
	return time.Duration(at.Load())
}

// watch lets the world record the changes of the lock's keys. That its keys were learnt changes nothing in a trace.
func (p *play) watch() {
	if p.lock.Keys == nil {
		return
	}
	keys := slices.Clone(p.lock.fleeting)
	for _, resource := range p.resources() {
		keys = append(keys, p.lock.Keys(resource)...)
		if p.lock.Queue != nil {
			keys = append(keys, p.lock.Queue(resource))
		}
	}
	switch ground := p.world.Ground(); {
	case len(keys) == 0:
	case p.lock.learns():
		ground.WatchUnseen(keys...)
	default:
		ground.WatchKeys(keys...)
	}
}
