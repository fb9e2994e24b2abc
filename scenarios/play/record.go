package play

import (
	"slices"
	"sync/atomic"
	"time"

	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// record is what was seen of the run up to now, without its timeline.
func (p *play) record() *evidence.Record {
	ground := p.world.Ground()
	rec := &evidence.Record{
		Live: p.real, Ownerless: p.ownerless, Over: p.overAt, AskedFor: p.acquireLimit(), Waiting: p.waiting, Loops: p.loops,
		Faults: p.schedule.record(), Learnt: p.lock.learnt, Changes: ground.KeyChanges(), ChangesBefore: p.probe.changes,
		Decisions: ground.Decisions(), Final: p.final, Last: p.probe.last, Left: p.probe.left,
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
	out := make([]evidence.Fault, len(s.strikes))
	for i, all := range s.strikes {
		out[i] = evidence.Fault{Fired: s.fired[i], Unable: s.unable[i]}
		for n, one := range all {
			if n == 0 {
				out[i].Strike = one.record()
			} else {
				out[i].Again = append(out[i].Again, one.record())
			}
		}
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
	case p.lock.learnt:
		ground.WatchUnseen(keys...)
	default:
		ground.WatchKeys(keys...)
	}
}
