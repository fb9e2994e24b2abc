package blame

import (
	"cmp"
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// reading is one reading of a run.
type reading struct {
	Case
	shared  []checker.SharedGrant // the overlaps, those of claims first
	changes []trace.KeyChange     // of the keys of the lock, up to the end of the workload
	grants  map[int]checker.Grant
}

func read(c Case) *reading {
	r := &reading{Case: c, shared: checker.SharedGrants(c.History), grants: map[int]checker.Grant{}}
	slices.SortStableFunc(r.shared, func(a, b checker.SharedGrant) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Granted.Granted, b.Granted.Granted))
	})
	for _, g := range c.History.Grants {
		r.grants[g.ID] = g
	}
	if c.Record != nil && !c.Record.Live {
		r.changes = c.Record.OfLock()
		r.changes = slices.DeleteFunc(r.changes, func(change trace.KeyChange) bool { return change.Step > c.Record.Over })
	}
	return r
}

// rank puts the overlaps of claims before those of beliefs.
func rank(s checker.SharedGrant) int {
	if s.Claims {
		return 0
	}
	return 1
}

// decisive is the step of the first reason that has one.
func (r *reading) decisive() checker.Pos {
	for _, reason := range r.Verdict.Reasons {
		if len(reason.At) > 0 {
			return reason.At[0]
		}
	}
	return 0
}

// when is the instant of a step.
func (r *reading) when(p checker.Pos) time.Duration {
	if t := r.History.Timing; t != nil && p > 0 && int(p) <= len(t.At) {
		return t.At[p-1]
	}
	return 0
}

// ofKey is the finding about a change of a key.
func ofKey(c trace.KeyChange) *Finding {
	return &Finding{At: checker.Pos(c.Step), By: c.Asked, Of: c.WasOf, Server: c.Server, Key: c.Key, Left: c.Left}
}

// taken is the first change of a key by a request of another client than the one that had it, if it is of a kind: that
// client had a claim, or its key had time left. Of claims that overlapped before it is not the cause.
func (r *reading) taken(kind Deed) *Finding {
	for _, c := range r.changes {
		if len(r.shared) > 0 && r.shared[0].Claims && checker.Pos(c.Step) > r.shared[0].Granted.Granted {
			return nil
		}
		another := c.Asked != "" && c.WasOf != "" && c.Asked != c.WasOf
		if deed := r.deedOf(c); deed != "" && another && r.alive(c) {
			if deed != kind {
				return nil
			}
			return ofKey(c)
		}
	}
	return nil
}

// deedOf is what a request does to a key; "" for nothing that matters.
func (r *reading) deedOf(c trace.KeyChange) Deed {
	switch {
	case c.Change == trace.KeyProlonged:
		return Prolongs
	case c.Change == trace.KeyDeleted && !evidence.Overwrites(r.changes, c):
		return Deletes
	case c.Change == trace.KeyDeleted, c.Change == trace.KeySet && c.Over && c.By == c.Asked:
		return Overwrites
	}
	return ""
}

// alive reports whether the client that had a key had a use for it: a claim, or a server that would have kept it.
func (r *reading) alive(c trace.KeyChange) bool {
	if c.Left.End == trace.EndTimed && c.Left.Time <= 0 { // it had ended by the clock of its server
		return false
	}
	return c.Left.End == trace.EndTimed && c.Left.Time > 0 || c.Left.End == trace.EndSession && !c.Session ||
		slices.ContainsFunc(r.History.Grants, func(g checker.Grant) bool {
			return g.Client == c.WasOf && g.Claim().Contains(checker.Pos(c.Step))
		})
}

func (r *reading) deletes() *Finding    { return r.taken(Deletes) }
func (r *reading) overwrites() *Finding { return r.taken(Overwrites) }
func (r *reading) prolongs() *Finding   { return r.taken(Prolongs) }

// shares finds a key that is of several clients, or that a client takes for its own although it did not set it in
// this life.
func (r *reading) shares() *Finding {
	for _, c := range r.changes {
		if c.Change == trace.KeySet && c.By == "" && c.Asked != "" && c.WasOf != "" && c.Asked != c.WasOf {
			return ofKey(c)
		}
	}
	if r.History.Entry == checker.EntryReentrant {
		return nil
	}
	for _, g := range r.History.Grants {
		held := r.holding(g.Client, g.Resource, g.Granted)
		if held == nil || held.From >= g.Invoked {
			continue
		}
		for _, before := range r.History.Grants {
			same := before.Client == g.Client && before.Resource == g.Resource && before.Crashed > 0
			if same && before.Granted < g.Invoked && before.Granted >= held.From {
				return &Finding{At: g.Granted, By: g.Client, Of: before.Client}
			}
		}
	}
	return nil
}

// oneOwner finds clients to whom their program gives one owner.
func (r *reading) oneOwner() *Finding {
	if r.Scenario.Lock.Owner != file.OwnerShared || len(r.shared) == 0 && r.Verdict.Facts.ForeignReleases == 0 {
		return nil
	}
	f := Finding{At: r.decisive()}
	if len(r.shared) > 0 {
		s := r.shared[0]
		f.At, f.By, f.Of = s.Granted.Granted, s.Granted.Client, s.Held.Client
	}
	return &f
}

// givesBack finds a release inside a section that let another client in: the lock has no owners, and had let its client
// in again while the first lease lasted.
func (r *reading) givesBack() *Finding {
	if r.History.Entry != checker.EntryOwnerless {
		return nil
	}
	for _, s := range r.shared {
		for _, g := range r.History.Grants {
			if g.Client == s.Held.Client && g.Resource == s.Held.Resource && g.ID != s.Held.ID &&
				s.Held.Claim().Contains(g.Granted) && g.Released > 0 &&
				g.Released < s.Granted.Granted {
				return &Finding{At: cmp.Or(g.ReleaseReturned, g.Released), By: g.Client}
			}
		}
	}
	return nil
}

// keepsItselfOut finds a client that waited for itself: the lock has no owners.
func (r *reading) keepsItselfOut() *Finding {
	if r.History.Entry != checker.EntryOwnerless || r.Verdict.Facts.SelfWaits == 0 {
		return nil
	}
	return &Finding{At: r.decisive()}
}

// refusedTaken is a store under test that says of a write, at the decisive step, that it was refused, and has it.
func (r *reading) refusedTaken() *Finding {
	at := r.decisive()
	if r.Verdict.Facts.FalseRejects == 0 {
		return nil
	}
	for _, o := range r.History.Ops {
		if o.Returned != at || o.Kind != checker.Write || o.Outcome != checker.OutcomeRefused {
			continue
		}
		for _, read := range slices.Concat(r.History.Ops, r.History.Last) {
			if read.Kind == checker.Read && read.Outcome == checker.OutcomeOK && read.Saw == o.Stored() {
				return &Finding{At: at, By: o.Client, Op: o.ID}
			}
		}
	}
	return nil
}

// holding is that of a client at a step, by the record of the servers; nil for none.
func (r *reading) holding(client string, resource checker.Resource, at checker.Pos) *checker.Holding {
	for i, s := range r.History.Holdings {
		if s.Client == client && s.Resource == resource && s.Span().Contains(at) {
			return &r.History.Holdings[i]
		}
	}
	return nil
}

// givesUp finds a request of a client's own process that ended its key under it.
func (r *reading) givesUp() *Finding {
	for _, t := range r.History.Takings {
		if t.By != t.Client {
			continue
		}
		for _, g := range r.History.Grants {
			before := g.Invoked < t.At && t.At <= g.Granted && r.holding(g.Client, g.Resource, g.Granted) == nil
			if g.Client == t.Client && g.Resource == t.Resource && (g.Claim().Contains(t.At) || before) {
				return r.at(t.At, Finding{At: t.At, By: t.By, Of: t.Client})
			}
		}
	}
	return r.fleeting()
}

// fleeting finds the holder of an overlap whose Acquire has deleted its key again, where the lock leaves none.
func (r *reading) fleeting() *Finding {
	if r.Record == nil || !r.Record.Learnt || len(r.Record.KeyChanges()) > 0 || len(r.shared) == 0 {
		return nil
	}
	held := r.shared[0].Held
	for _, c := range slices.Backward(r.changes) {
		p := checker.Pos(c.Step)
		if c.Asked == held.Client && c.WasOf == held.Client && held.Invoked < p && p <= held.Granted {
			if c.Change != trace.KeyDeleted {
				return nil
			}
			return ofKey(c)
		}
	}
	return nil
}

func (r *reading) at(p checker.Pos, f Finding) *Finding {
	for _, c := range r.changes {
		if checker.Pos(c.Step) == p {
			f.Server, f.Key, f.Left = c.Server, c.Key, c.Left
			break
		}
	}
	return &f
}

// retakes finds a key that a holder sets again, without asking for the lock, after it had gone and another
// client had had it.
func (r *reading) retakes() *Finding {
	for _, c := range r.changes {
		p := checker.Pos(c.Step)
		if c.Change != trace.KeySet || c.By == "" || c.Over {
			continue
		}
		for _, g := range r.History.Grants {
			if g.Client != c.By || g.Granted >= p || !g.Belief(checker.CareNever).Contains(p) {
				continue
			}
			for _, other := range r.History.Grants {
				if other.Resource == g.Resource && other.Client != g.Client && g.Granted < other.Granted && other.Granted < p {
					f := ofKey(c)
					f.Of = other.Client
					return f
				}
			}
		}
	}
	return nil
}

// known reports whether the record says who has the lock.
func (r *reading) known() bool {
	return r.Record != nil && !r.Record.Live && len(r.changes) > 0 && !r.History.ManyKeys &&
		r.History.Entry != checker.EntryReentrant
}

// withoutKey finds a grant beside another one, of a client that has no key by the record of most servers.
func (r *reading) withoutKey() *Finding {
	if !r.known() {
		return nil
	}
	for _, s := range r.shared {
		for _, g := range []checker.Grant{s.Granted, s.Held} {
			if s.Claims && r.holding(g.Client, g.Resource, g.Granted) == nil {
				return &Finding{At: g.Granted, By: g.Client}
			}
		}
	}
	return nil
}

// outlives finds a claim that went on after its key had ended by itself. A lease without an end is told of its loss
// within the detection bound, or ends itself.
func (r *reading) outlives() *Finding {
	for _, s := range r.shared {
		held := r.holding(s.Held.Client, s.Held.Resource, s.Held.Granted)
		if held == nil || held.To == 0 || held.To > s.Granted.Granted {
			continue
		}
		if s.Claims && s.Held.Claim().Contains(held.To) || r.untold(s.Held, held.To) {
			return r.at(held.To, Finding{At: held.To, By: s.Held.Client, Of: s.Granted.Client})
		}
	}
	return nil
}

// untold reports whether a holder of a lease without an end ran for longer than its detection bound after it had lost
// its lock, and was not told: a process that is cut off has a clock.
func (r *reading) untold(g checker.Grant, lost checker.Pos) bool {
	if r.History.Detection == 0 || g.Until > 0 {
		return false
	}
	end := g.Belief(checker.CareNever).End
	if g.Lost > 0 && (end == 0 || g.Lost < end) {
		end = g.Lost
	}
	return end > 0 && r.ran(g.Client, r.when(lost), r.when(end)) > r.History.Detection+2*r.History.Timing.Trips
}

// ran is how long a client ran in a span: pauses do not count.
func (r *reading) ran(client string, from, to time.Duration) time.Duration {
	left := max(0, to-from)
	for _, p := range r.pauses(client) {
		left -= max(0, min(p.To, to)-max(p.From, from))
	}
	return left
}

// pauses are the spans in which a fault kept the process of a client from running.
func (r *reading) pauses(client string) (all []checker.Span) {
	if r.Record == nil {
		return nil
	}
	sc, rec := evidence.Strikes(r.Scenario, r.Record)
	for i, f := range sc.Faults {
		form, _ := faults.Open(f.Action)
		length, lasts := form.Length()
		fired := i < len(rec.Faults) && rec.Faults[i].Fired
		if !fired || form.Class != promise.Pause || !lasts || !names(form, client) {
			continue
		}
		struck := rec.Faults[i].Struck
		all = append(all, checker.Span{From: struck, To: struck + *length.To})
	}
	return all
}

// names reports whether an action concerns a process by name.
func names(form faults.Form, process string) bool {
	return slices.ContainsFunc(form.Fields, func(f faults.Field) bool {
		name, ok := f.Holds.(faults.Name)
		return ok && *name.To == process
	})
}

// unrenewed finds a lease that a lock which renews has let end, although nothing kept it from renewing.
func (r *reading) unrenewed() *Finding {
	renews := slices.ContainsFunc(r.changes, func(c trace.KeyChange) bool {
		return c.Change == trace.KeyProlonged && c.Asked != "" && c.Asked == c.WasOf
	}) && !slices.ContainsFunc(r.History.Calls, func(c checker.Call) bool { return c.What == "Extend" })
	if !renews {
		return nil
	}
	h := r.History
	h.Duties = []promise.Duty{promise.DutyRenews}
	v, err := checker.Judge(h, nil)
	if err != nil { // it was judged before
		return nil
	}
	for _, reason := range v.Reasons {
		for _, s := range r.shared {
			if reason.Duty == promise.DutyRenews && slices.Contains(reason.At, s.Held.Granted) && len(reason.At) > 0 {
				end := reason.At[len(reason.At)-1]
				return &Finding{At: end, By: s.Held.Client, Of: s.Granted.Client}
			}
		}
	}
	return nil
}

// admits finds a second client that was let in while the first one had the lock.
func (r *reading) admits() *Finding {
	for _, s := range r.shared {
		if s.Claims || r.undisturbed(s) {
			return &Finding{At: s.Granted.Granted, By: s.Granted.Client, Of: s.Held.Client}
		}
	}
	return nil
}

// undisturbed reports whether the holder of a lease without an end had not been told of any loss when another client
// was granted the lock, although no fault had struck by then.
func (r *reading) undisturbed(s checker.SharedGrant) bool {
	t := r.History.Timing
	untold := s.Held.Until == 0 && (s.Held.Lost == 0 || s.Held.Lost > s.Granted.Granted)
	return r.History.Detection > 0 && t != nil && untold &&
		t.Undisturbed > r.when(s.Granted.Granted)
}

// belated finds a second client that was granted a lease which was over by its own clock when the last answer came: the
// lock could know that.
func (r *reading) belated() *Finding {
	for _, s := range r.shared {
		if !s.Claims && s.Granted.OverBefore {
			return &Finding{At: s.Granted.Granted, By: s.Granted.Client, Of: s.Held.Client}
		}
	}
	return nil
}

// forgets finds the key that went with a clock, a disk or a server.
func (r *reading) forgets() *Finding {
	f := r.Verdict.Facts
	if len(r.Failed) == 0 || f.ClaimOverlaps == 0 && !(r.Mode.NeedsToken() && f.TokenRegressions+f.TokenDuplicates > 0) {
		return nil
	}
	out := Finding{At: r.decisive(), Failed: r.Failed}
	for _, s := range r.shared {
		if !s.Claims {
			continue
		}
		out.At, out.Of = s.Granted.Granted, s.Held.Client
		for _, c := range r.changes {
			p := checker.Pos(c.Step)
			ended := c.Asked == "" && c.Value == "" || c.Left.End == trace.EndTimed && c.Left.Time <= 0
			if ended && c.WasOf == s.Held.Client && s.Held.Claim().Contains(p) && p <= s.Granted.Granted {
				out.At, out.By, out.Server, out.Key, out.Left = p, c.Server, c.Server, c.Key, c.Left
				return &out
			}
		}
		return &out
	}
	return &out
}

// unsurvived has what the choice of the lock has to answer for.
func (r *reading) unsurvived() *Finding {
	rest := slices.DeleteFunc(slices.Clone(r.Failed), func(c promise.Fault) bool {
		return slices.Contains(r.Unpromised, c)
	})
	return &Finding{At: r.decisive(), Failed: slices.Concat(r.Unpromised, rest)}
}

// stale is an operation on which the store decided although the lock had been granted again by then.
type stale struct {
	checker.Op
	grant checker.Grant
	sent  checker.Pos // when the first message of it left the client
	end   checker.Pos // when its lease ended; 0 if it has no end that the client could know
}

// staleOp is the first write that the store took so or, if it took none, the first operation that a fence refused so;
// nil for none. A client that has entered a reentrant lock again makes nothing stale.
func (r *reading) staleOp() *stale {
	var found *stale
	for _, op := range r.History.Ops {
		harms := op.Kind == checker.Write && op.Accepted
		worse := found != nil && (found.Accepted && !harms || found.Accepted == op.Accepted && op.Applied >= found.Applied)
		if op.Applied == 0 || !harms && op.Accepted || worse {
			continue
		}
		mine := r.grants[op.Grant]
		if slices.ContainsFunc(r.History.Grants, func(g checker.Grant) bool {
			entered := r.History.Entry == checker.EntryReentrant && g.Client == mine.Client
			return g.Resource == op.Resource && g.Granted > mine.Granted && g.Granted < op.Applied && !entered
		}) {
			found = &stale{Op: op, grant: mine, sent: r.sent(op), end: known(mine)}
		}
	}
	return found
}

// known is when a lease ended, as far as its client could know: 0 for never.
func known(g checker.Grant) (end checker.Pos) {
	for _, p := range []checker.Pos{g.Until, g.Lost} {
		if p > 0 && (end == 0 || p < end) {
			end = p
		}
	}
	return end
}

// sent is when the first message of an operation left its client.
func (r *reading) sent(op checker.Op) checker.Pos {
	if r.Record != nil {
		for _, m := range r.Record.Timeline.Messages {
			_, server := r.Record.Servers.Find(m.Peer)
			if !server && m.Client == op.Client && !m.Received && m.At >= op.Invoked {
				return m.At
			}
		}
	}
	return op.Invoked
}

// released finds a write that its section sent after it had released the lock.
func (r *reading) released() *Finding {
	s := r.staleOp()
	if s == nil || s.grant.Released == 0 || s.sent < s.grant.Released {
		return nil
	}
	return &Finding{At: s.Applied, By: s.Client, Op: s.ID}
}

// atOnce is how long a process may take from its return to what it does next.
const atOnce = 10 * time.Millisecond

// stoodStill finds a write of a process that did not run from before the end of its lease to the write.
func (r *reading) stoodStill() *Finding {
	if s := r.staleOp(); s != nil {
		end := r.end(s.grant)
		if end > 0 && s.sent > end && len(r.pauses(s.Client)) > 0 && r.ran(s.Client, r.when(end), r.when(s.sent)) <= atOnce {
			return &Finding{At: s.Applied, By: s.Client, Op: s.ID}
		}
		return nil
	}
	for _, s := range r.shared {
		end, granted := r.end(s.Held), r.when(s.Granted.Granted)
		client := s.Held.Client
		if !s.Claims && end > 0 && len(r.pauses(client)) > 0 && r.ran(client, r.when(end), granted) <= atOnce {
			return &Finding{At: s.Granted.Granted, By: s.Held.Client}
		}
	}
	return nil
}

// end is when the lease of a grant was over: for its client or, where that has no end, by the record of the servers.
func (r *reading) end(g checker.Grant) checker.Pos {
	end := known(g)
	held := r.holding(g.Client, g.Resource, g.Granted)
	if g.Until == 0 && held != nil && held.To > 0 && (end == 0 || held.To < end) {
		return held.To
	}
	return cmp.Or(end, g.Doubted)
}

// lateSend finds a write that a client sent after an end that it could know.
func (r *reading) lateSend() *Finding {
	if s := r.staleOp(); s != nil {
		if s.end > 0 && s.sent > s.end {
			ended, sent := r.when(s.end), r.when(s.sent)
			return &Finding{At: s.Applied, By: s.Client, Op: s.ID, After: sent - ended, Ran: r.ran(s.Client, ended, sent),
				Told: s.grant.Until == 0}
		}
		return nil
	}
	for _, s := range r.shared {
		if end := known(s.Held); !s.Claims && end > 0 && end <= s.Granted.Granted {
			return &Finding{At: s.Granted.Granted, By: s.Held.Client}
		}
	}
	return nil
}

// lateArrival finds a write that was sent under its lease, and on which the store decided after its end.
func (r *reading) lateArrival() *Finding {
	s := r.staleOp()
	if s == nil {
		return nil
	}
	end := cmp.Or(s.end, s.grant.Released)
	if s.grant.Released > 0 {
		end = min(end, s.grant.Released)
	}
	if end == 0 || s.sent > end || s.Applied < end {
		return nil
	}
	return &Finding{At: s.Applied, By: s.Client, Op: s.ID, After: r.when(s.Applied) - r.when(end)}
}

// blind finds a holder of a lease without an end that could not be told.
func (r *reading) blind() *Finding {
	for _, s := range r.shared {
		if !s.Claims && s.Held.Doubted > 0 && !s.Held.Taken {
			return &Finding{At: s.Granted.Granted, By: s.Held.Client, Of: s.Granted.Client}
		}
	}
	return nil
}

// leaves finds a key that outlasts its use.
func (r *reading) leaves() *Finding {
	for _, l := range r.History.Ending.Leftovers {
		return &Finding{By: l.Owner, Server: l.Server, Key: l.Key}
	}
	for _, g := range r.History.Grants {
		if g.ReleaseReturned == 0 {
			continue
		}
		if held := r.holding(g.Client, g.Resource, g.ReleaseReturned); held != nil && held.From <= g.Granted {
			return r.at(held.From, Finding{At: g.ReleaseReturned, By: g.Client})
		}
	}
	for _, s := range r.History.Holdings {
		if s.To == 0 && r.Verdict.Facts.Liveness != checker.LivenessOK {
			return r.at(s.From, Finding{At: s.From, By: s.Client})
		}
	}
	return nil
}

// displaces finds a client that still waits, and that a request of another one took out of the queue.
func (r *reading) displaces() *Finding {
	if r.Record == nil || r.Record.Live {
		return nil
	}
	for _, d := range r.Record.Displaced(r.History) {
		return &Finding{At: checker.Pos(d.Step), By: d.Asked, Of: d.Of, Server: d.Server, Key: d.Key}
	}
	return nil
}

// uncompared finds that a write undid another one where there is no lock, but in a mode that compares.
func (r *reading) uncompared() *Finding {
	if r.History.Entry != checker.EntryShared || r.Mode == fence.CAS || r.Verdict.Facts.LostUpdates == 0 {
		return nil
	}
	return &Finding{}
}
