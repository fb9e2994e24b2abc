package evidence_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// A grant is lost at its return if the loss had been announced, and before it if the lock knew of it: it was observed,
// or an answer had just come. A lease that was over on arrival is no claim.
func TestGrants(t *testing.T) {
	lost := evidence.Grant{Grant: checker.Grant{Granted: 20, LostSeen: 25}, LostAtOnce: true, Returned: tenth(20),
		LossChecked: 30}
	with := func(change func(g *evidence.Grant)) evidence.Grant {
		g := lost
		change(&g)
		return g
	}
	answer := func(at int) func(r *run) {
		return func(r *run) {
			r.rec.Timeline.Messages = []evidence.Message{{At: checker.Pos(at), Client: "c0", Peer: "r0", Received: true},
				{At: 40, Client: "c0", Peer: "r0", Received: true}}
		}
	}
	both := func(a, b func(r *run)) func(r *run) { return func(r *run) { a(r); b(r) } }
	checks := func(r *run) { r.terms.Section = true }
	for name, c := range map[string]struct {
		text   string
		grant  evidence.Grant
		change func(r *run)
		want   checker.Grant
	}{
		"plain": {grant: evidence.Grant{Grant: checker.Grant{Granted: 20, Until: 40}},
			want: checker.Grant{Granted: 20, Until: 40}},
		"over at once": {grant: evidence.Grant{Grant: checker.Grant{Granted: 20, Until: 21}, OverAtOnce: true},
			want: checker.Grant{Granted: 20, Until: 20}},
		"over at once, as an answer came": {grant: evidence.Grant{Grant: checker.Grant{Granted: 20, Until: 21},
			OverAtOnce: true, Returned: lost.Returned},
			change: answer(20), want: checker.Grant{Granted: 20, Until: 20, OverBefore: true}},
		"over at once, on real servers": {grant: evidence.Grant{Grant: checker.Grant{Granted: 20, Until: 21},
			OverAtOnce: true, Returned: lost.Returned},
			change: both(answer(20), func(r *run) { r.rec.Live = true }), want: checker.Grant{Granted: 20, Until: 20}},
		"lost at once": {grant: lost, want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25}},
		"lost later": {grant: with(func(g *evidence.Grant) { g.LostAtOnce, g.Lost = false, 22 }), change: answer(20),
			want: checker.Grant{Granted: 20, Lost: 22, LostSeen: 25}},
		"the loss was known": {grant: with(func(g *evidence.Grant) { g.LossKnown = true }),
			want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25, LostBefore: true}},
		"as an answer came": {grant: lost, change: answer(20),
			want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25, LostBefore: true}},
		"after an answer": {grant: lost, change: answer(19), want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25}},
		"after an answer that may be late": {grant: lost, change: both(answer(19), func(r *run) { r.terms.Late = tenth(1) }),
			want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25, LostBefore: true}},
		"before an answer": {grant: lost, change: answer(21), want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25}},
		"what it sent": {grant: lost, change: both(answer(20), func(r *run) { r.rec.Timeline.Messages[0].Received = false }),
			want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25}},
		"another's answer": {grant: lost, change: both(answer(20), func(r *run) { r.rec.Timeline.Messages[0].Client = "c1" }),
			want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25}},
		"on real servers": {grant: lost, change: both(answer(20), func(r *run) { r.rec.Live = true }),
			want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25}},
		"checked": {grant: lost, change: checks, want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 30}},
		"checked by a step": {text: "workload: {section: [read: a, check, write: a]}\n", grant: lost,
			want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 30}},
		"checked, and looked for": {text: "workload: {checks_until: lost}\n", grant: lost, change: checks,
			want: checker.Grant{Granted: 20, Lost: 20, LostSeen: 25}},
		"a crash": {grant: evidence.Grant{Grant: checker.Grant{Granted: 20}},
			text: "faults: [{at: 3s, crash: {process: c0}}, {at: 4s, kill_worker: {process: c0}}]\n",
			want: checker.Grant{Granted: 20, Crashed: 30}},
		"a crash before": {grant: evidence.Grant{Grant: checker.Grant{Granted: 20}},
			text: "faults: [{at: 2s, crash: {process: c0}}]\n", want: checker.Grant{Granted: 20}},
		"another's crash": {grant: evidence.Grant{Grant: checker.Grant{Granted: 20}},
			text: "faults: [{at: 3s, crash: {process: c1}}]\n", want: checker.Grant{Granted: 20}},
		"an exit": {grant: evidence.Grant{Grant: checker.Grant{Granted: 20}},
			text: "faults: [{at: 3s, crash: {process: c0}}]\n", change: func(r *run) { r.rec.Timeline.Ends[0].Exit = true },
			want: checker.Grant{Granted: 20}},
	} {
		r := runOf(t, c.text)
		r.granted("c0", c.grant)
		c.want.ID, c.want.Client, c.want.Resource = 1, "c0", "order"
		if diff := cmp.Diff([]checker.Grant{c.want}, r.with(c.change).history().Grants); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// How a lock told of the beginning or the end of one lease more than once is about its promise, if it has one.
func TestNotices(t *testing.T) {
	own := checker.Grant{Unkept: []string{"its own"}}
	for name, c := range map[string]struct {
		grant evidence.Grant
		want  []string // how each begins
	}{
		"once each": {grant: evidence.Grant{Started: 1, Stopped: 1}},
		"a value": {grant: evidence.Grant{LostValues: 1},
			want: []string{"Lost of the lease was not closed: it had 1 value"}},
		"two values": {grant: evidence.Grant{LostValues: 2},
			want: []string{"Lost of the lease was not closed: it had 2 values"}},
		"two starts": {grant: evidence.Grant{Started: 2},
			want: []string{"the election told it 2 times that it leads"}},
		"two ends": {grant: evidence.Grant{Stopped: 2},
			want: []string{"the election told it 2 times that it does not lead any more"}},
		"beside what was noted": {grant: evidence.Grant{Grant: own, Stopped: 3},
			want: []string{"its own", "the election told it 3 times"}},
	} {
		r := runOf(t, "")
		r.granted("c0", c.grant)
		r.terms.Promise.Duties = []promise.Duty{promise.DutyKeeps}
		got := r.history().Grants[0].Unkept
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		r.terms.Promise.Duties = []promise.Duty{promise.DutyEnds}
		if got := r.history().Grants[0].Unkept; !slices.Equal(got, c.grant.Unkept) {
			t.Errorf("%s, not promised: %q", name, got)
		}
	}
}

// What is done under a grant has its number, and what the store has decided; an operation that the end of the run cut
// off has an unknown outcome.
func TestOperations(t *testing.T) {
	r := runOf(t, "")
	op := func(id string) checker.Op {
		return checker.Op{ID: id, Client: "c0", Resource: "order", Outcome: checker.OutcomeOK}
	}
	r.granted("c0", evidence.Grant{Ops: []checker.Op{op("a"), op("b")}, Calls: []checker.Call{{What: "Extend"}}})
	r.granted("c1", evidence.Grant{Ops: []checker.Op{op("c"), op("d")}, Unfinished: true})
	r.rec.Clients[1].Tries = []checker.Try{{Client: "c1"}}
	r.rec.Decisions = []evidence.Decision{{At: 7, Decision: trace.Decision{Op: "a"}},
		{At: 9, Decision: trace.Decision{Op: "c", Refused: "stale"}}}
	want := []checker.Op{op("a"), op("b"), op("c"), op("d")}
	want[0].Grant, want[0].Applied, want[0].Accepted = 1, 7, true
	want[1].Grant = 1
	want[2].Grant, want[2].Applied = 2, 9
	want[3].Grant, want[3].Outcome = 2, checker.OutcomeUnknown
	h := r.history()
	if diff := cmp.Diff(want, h.Ops); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(h.Calls) != 1 || len(h.Tries) != 1 || h.Grants[1].ID != 2 {
		t.Errorf("calls %v, tries %v, grants %v", h.Calls, h.Tries, h.Grants)
	}
	if r.rec.Clients[0].Grants[0].Ops[0].Grant != 0 {
		t.Error("the record has changed")
	}
}

// An attempt whose context had a deadline, and ended, had to return within the time that the lock promises.
func TestAttemptsThatHadToReturn(t *testing.T) {
	const within = "lock: {ttl: 10s}\nworkload: {acquire_within: 2s, deadline: true}\n"
	ended := checker.Attempt{Client: "c0", Resource: "order", Invoked: 10, Returned: 45, ContextEnded: tenth(30),
		Outcome: checker.OutcomeFailed}
	call := []checker.Call{{Client: "c0", Resource: "order", What: "Acquire", About: 10, Called: tenth(10), Due: tenth(50),
		Returned: tenth(45)}}
	for name, c := range map[string]struct {
		text    string
		attempt checker.Attempt
		want    []checker.Call
	}{
		"it ended":         {text: within, attempt: ended, want: call},
		"of the request":   {text: "workload: {request: 2s, deadline: true}\n", attempt: ended, want: call},
		"it was cancelled": {text: "workload: {acquire_within: 2s}\n", attempt: ended},
		"without a limit":  {text: "workload: {release_within: 2s, deadline: true}\n", attempt: ended},
		"it did not end": {text: within,
			attempt: checker.Attempt{Client: "c0", Resource: "order", Invoked: 10, Returned: 45}},
		"never returned": {text: within,
			attempt: checker.Attempt{Client: "c0", Resource: "order", Invoked: 10, ContextEnded: tenth(30)}},
	} {
		r := runOf(t, c.text)
		r.terms.Promise.ReturnsWithin = promise.TermReleaseTimeout
		r.rec.Clients[0].Attempts = []checker.Attempt{c.attempt}
		h := r.history()
		if diff := cmp.Diff(c.want, h.Calls); diff != "" || len(h.Attempts) != 1 {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// The duties are those of the promise that the scenario lets a lock keep: one that does not know the end that is judged
// need not tell of it, requests of stock clients outlast their contexts, and a waiter that polls is not woken.
func TestDuties(t *testing.T) {
	all := promise.Duties()
	without := func(out promise.Duty) []promise.Duty {
		return slices.DeleteFunc(slices.Clone(all), func(d promise.Duty) bool { return d == out })
	}
	const notify = "lock: {wait: notify}\n"
	lease := func(form evidence.LeaseForm) func(r *run) { return func(r *run) { r.terms.Lease = form } }
	for name, c := range map[string]struct {
		text   string
		change func(r *run)
		want   []promise.Duty
	}{
		"that is woken":     {text: notify, want: all},
		"with an end":       {text: notify, change: lease(evidence.LeaseUntil), want: all},
		"that is held":      {text: notify, change: lease(evidence.LeaseHeld), want: without(promise.DutyTells)},
		"that is counted":   {text: notify, change: lease(evidence.LeaseCounted), want: without(promise.DutyTells)},
		"of a stock client": {text: "lock: {wait: notify, client: stock}\n", want: without(promise.DutyReturns)},
		"that polls":        {want: without(promise.DutyWakes)},
	} {
		r := runOf(t, c.text)
		r.terms.Promise.Duties = all
		if got := r.with(c.change).history().Duties; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What the workload says of the clients.
func TestWorkload(t *testing.T) {
	check := func(name string, ok bool, h checker.History) {
		if !ok {
			t.Errorf("%s: %+v", name, h)
		}
	}
	section := func(r run) run { r.terms.Section, r.terms.Writes = true, []string{"a", "b", "c"}; return r }
	h := runOf(t, "").history()
	check("plain", h.Entry == checker.EntryExclusive && h.Care == checker.CareNever && h.SectionWrites == 1 && !h.Fill &&
		!h.Leads && !h.TakenNamed, h)
	h = runOf(t, "workload: {kind: transfer, checks_until: lost}\n").history()
	check("transfer", h.Care == checker.CareLost && h.SectionWrites == 2, h)
	h = runOf(t, "workload: {nested: 1}\n").history()
	check("nested", h.Entry == checker.EntryReentrant, h)
	h = runOf(t, "lock: {owner: shared}\n").history()
	check("shared owner", h.Entry == checker.EntryReentrant, h)
	h = runOf(t, "lock: {owner: round}\n").history()
	check("an owner for each round", h.Entry == checker.EntryExclusive, h)
	h = runOf(t, "workload: {section: [read: a, check, write: a]}\n").history()
	check("checks", h.Care == checker.CareSteps, h)
	h = section(runOf(t, "")).history()
	check("a section of the lock", h.Care == checker.CareSteps && h.SectionWrites == 3, h)
	h = runOf(t, "workload: {kind: fill}\n").history()
	check("fill", h.Fill && !h.Leads, h)
	h = section(runOf(t, "workload: {kind: fill}\n")).history()
	check("fill, with a section of the lock", !h.Fill, h)
	h = runOf(t, "workload: {kind: leader}\n").history()
	check("leader", h.Leads && !h.Fill, h)
	h = section(runOf(t, "workload: {kind: leader}\n")).history()
	check("leader, with a section of the lock", !h.Leads, h)
	r := runOf(t, "")
	r.terms.Named = true
	check("named errors", r.history().TakenNamed, r.history())
}

// A lease that is held ends for its holder when another client has the lock; the holder has to learn that within the
// time of its detection, or a TTL.
func TestHeldLeases(t *testing.T) {
	for name, c := range map[string]struct {
		terms     func(terms *evidence.Terms)
		doubted   checker.Pos
		detection time.Duration
	}{
		"held": {func(terms *evidence.Terms) { terms.Lease = evidence.LeaseHeld }, 29, 4 * time.Second},
		"held, and detected": {func(terms *evidence.Terms) { terms.Lease, terms.Detection = evidence.LeaseHeld, time.Second },
			29, time.Second},
		"counted": {func(terms *evidence.Terms) {
			terms.Lease, terms.Detection = evidence.LeaseCounted,
				time.Second
		}, 0, 0},
	} {
		r := runOf(t, "lock: {ttl: 4s}\nfaults: [{at: 1500ms, partition: {between: [c0]}}]\n")
		c.terms(&r.terms)
		r.granted("c0", evidence.Grant{Grant: checker.Grant{Invoked: 5, Granted: 10}})
		r.granted("c1", evidence.Grant{Grant: checker.Grant{Invoked: 20, Granted: 30}})
		h := r.history()
		if got := h.Grants[0].Doubted; got != c.doubted || h.Detection != c.detection {
			t.Errorf("%s: doubted at %d, detection %v, want %d, %v", name, got, h.Detection, c.doubted, c.detection)
		}
	}
}

// The history of a run on real servers has no record of theirs, and says how far its instants are off.
func TestLive(t *testing.T) {
	r := runOf(t, "")
	r.rec.Changes = []trace.KeyChange{sets(3, "r0", "c0", "v"), removes(5, "r0", "c1")}
	if h := r.history(); len(h.Holdings) == 0 || len(h.Deletions) == 0 || h.Within != nil {
		t.Errorf("in the simulated world: %+v", h)
	}
	r.rec.Live = true
	h := r.history()
	if len(h.Holdings) > 0 || len(h.Deletions) > 0 {
		t.Errorf("on real servers: %+v", h)
	}
	if want := (checker.Span{From: tenth(3), To: tenth(3)}); len(h.Within) != 100 || h.Within[2] != want {
		t.Errorf("step 3 is within %v, want %v", h.Within, want)
	}
	r.rec.Timeline.Within = make([]time.Duration, 100)
	r.rec.Timeline.Within[2] = time.Millisecond
	if got, want := r.history().Within[2], (checker.Span{From: tenth(3), To: tenth(3) + time.Millisecond}); got != want {
		t.Errorf("step 3 is within %v, want %v", got, want)
	}
}

// The names of resources are those that the clients use, in all that is judged: texts alone quote them.
func TestNamesOfResources(t *testing.T) {
	const odd = "a b"
	r := runOf(t, "workload: {acquire_within: 1s, deadline: true}\n")
	r.sc.Workload.Resources = []string{odd}
	r.rec.Keys = map[string][]string{odd: {"lock:order"}}
	r.terms.Voters = 2
	r.rec.Clients[0].Grants = []evidence.Grant{{Grant: checker.Grant{Client: "c0", Resource: odd, Granted: 3},
		Ops: []checker.Op{{Resource: odd}}, Calls: []checker.Call{{Resource: odd}}}}
	r.rec.Clients[0].Attempts, r.rec.Clients[0].Tries = []checker.Attempt{{Resource: odd, Invoked: 1}},
		[]checker.Try{{Resource: odd}}
	r.rec.Servers = append(r.rec.Servers, trace.Server{Name: "r1"})
	r.rec.Changes = []trace.KeyChange{sets(3, "r0", "c0", "v"), sets(3, "r1", "c0", "v"), removes(5, "r0", "c1")}
	r.rec.Final = []evidence.Final{{Resource: odd, Register: "balance", Value: "w"}}
	h := r.history()
	got := []checker.Resource{h.Grants[0].Resource, h.Attempts[0].Resource, h.Tries[0].Resource, h.Calls[0].Resource,
		h.Ops[0].Resource, h.Holdings[0].Resource,
		h.Votes[0].Resource, h.Deletions[0].Resource}
	if slices.ContainsFunc(got, func(name checker.Resource) bool { return name != odd }) {
		t.Errorf("the names are %q, want %q", got, odd)
	}
	if diff := cmp.Diff(map[checker.Cell]string{{Resource: odd, Register: "balance"}: "w"}, h.Final); diff != "" {
		t.Errorf("the final values: (-want +got):\n%s", diff)
	}
}

// Panics of the lock's code are told, with who met them.
func TestPanics(t *testing.T) {
	r := runOf(t, "")
	r.rec.Timeline.Ends = []evidence.End{{At: 3, Name: "c0"}, {At: 5, Name: "c1", Panic: "nil map"}}
	if diff := cmp.Diff([]checker.Panic{{Client: "c1", At: 5, Text: "nil map"}}, r.history().Panics); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
