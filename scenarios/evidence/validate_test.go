package evidence_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// whole is a record of a run of ten events, in which one client got the lock.
func whole() *evidence.Record {
	return &evidence.Record{Over: 8, AskedFor: time.Second,
		Timeline: evidence.Timeline{At: make([]time.Duration, 10),
			Messages: []evidence.Message{{At: 2, Client: "c0", Peer: "r0"}, {At: 3, Client: "c0", Peer: "r0", Received: true}}},
		Clients: []evidence.Client{{Name: "c0",
			Grants: []evidence.Grant{{Grant: checker.Grant{Client: "c0", Resource: "order", Invoked: 1, Granted: 4},
				Ops: []checker.Op{{ID: "c0.w1", Client: "c0", Invoked: 5}}, Unfinished: true}},
			Attempts: []checker.Attempt{{Client: "c0", Resource: "order", Invoked: 6}}}},
		Servers: trace.Servers{{Name: "r0"}, {Name: "r1"}},
		Changes: []trace.KeyChange{{Step: 2, Server: "r0", Key: "order", Change: trace.KeySet},
			{Step: 11, Server: "r0", Key: "order", Change: trace.KeyExpired}},
		Decisions: []evidence.Decision{{At: 7}}, ChangesBefore: 1}
}

// A record that no driver writes is refused, with the place in it; the last change may come after the last event.
func TestValidate(t *testing.T) {
	sc := &file.Scenario{}
	if err := whole().Validate(sc); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*evidence.Record){
		"over: event 11, and the run has 10": func(
			r *evidence.Record) {
			r.Over = 11
		},
		"over: event -1, and": func(
			r *evidence.Record) {
			r.Over = -1
		},
		"faults: there are 1, and the scenario has 0": func(
			r *evidence.Record) {
			r.Faults = make([]evidence.Fault, 1)
		},
		"timeline.at[4]: the instant 0s is before": func(
			r *evidence.Record) {
			r.Timeline.At[3] = 1
		},
		"timeline.within: there are 2, for 10 events": func(
			r *evidence.Record) {
			r.Timeline.Within = make([]time.Duration, 2)
		},
		"timeline.within[1]: -1ns is not 0 or more": func(
			r *evidence.Record) {
			r.Timeline.Within = make([]time.Duration, 10)
			r.Timeline.Within[1] = -1
		},
		"timeline.messages[1].n: position 1 comes": func(
			r *evidence.Record) {
			r.Timeline.Messages[1].At = 1
		},
		"timeline.ends[0].n: position 0 comes": func(
			r *evidence.Record) {
			r.Timeline.Ends = make([]evidence.End, 1)
		},
		"timeline.starts[0].n: position 11, and": func(
			r *evidence.Record) {
			r.Timeline.Starts = []evidence.Start{{At: 11}}
		},
		"clients[0].name: the client has no name": func(
			r *evidence.Record) {
			r.Clients[0] = evidence.Client{}
		},
		`clients[0].grants[0].client: "c0" is another client than "c1"`: func(
			r *evidence.Record) {
			r.Clients[0].Name = "c1"
		},
		"clients[0].grants[0].granted: position 0, and it was asked for at 1": func(
			r *evidence.Record) {
			r.Clients[0].Grants[0].Granted = 0
		},
		"clients[0].grants[0].lost: position 11, and the run has 10 events": func(
			r *evidence.Record) {
			r.Clients[0].Grants[0].Lost = 11
		},
		"clients[0].grants[0].ops[0].returned: position -2, and the run has 10 events": func(
			r *evidence.Record) {
			r.Clients[0].Grants[0].Ops[0].Returned = -2
		},
		"clients[0].grants[0].unfinished: there is no operation": func(
			r *evidence.Record) {
			r.Clients[0].Grants[0].Ops = nil
		},
		"clients[0].attempts[0].invoked: the attempt has no position": func(
			r *evidence.Record) {
			r.Clients[0].Attempts[0].Invoked = 0
		},
		"changes[1].step: step 1 comes after step 2": func(
			r *evidence.Record) {
			r.Changes[1].Step = 1
		},
		"changes[1].step: step 12 comes after step 2, and the run has 10": func(
			r *evidence.Record) {
			r.Changes[1].Step = 12
		},
		"changes[0].change: it is missing": func(
			r *evidence.Record) {
			r.Changes[0].Change = 0
		},
		"changes_before: 3 of 2": func(
			r *evidence.Record) {
			r.ChangesBefore = 3
		},
		"decisions[0].at: the decision has no position": func(
			r *evidence.Record) {
			r.Decisions[0].At = 0
		},
		`servers[1].name: "r0" is empty, or the name of another server`: func(
			r *evidence.Record) {
			r.Servers[1] = trace.Server{Name: "r0", Kind: "x"}
		},
		"probe.bound: it asked for -1s": func(
			r *evidence.Record) {
			r.Probe.Bound = -time.Second
		},
	} {
		r := whole()
		change(r)
		if err := r.Validate(sc); !errors.Is(err, evidence.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Terms that no lock has are refused.
func TestValidateTerms(t *testing.T) {
	good := evidence.Terms{Nodes: 1, Voters: 1, Lease: evidence.LeaseUntil,
		Promise: promise.Promise{Data: "seal", FreeWithin: promise.TermTTL}}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*evidence.Terms){
		`lease: "for ever" is none of`:                func(x *evidence.Terms) { x.Lease = "for ever" },
		"voters: -1 is not between 0 and 1000":        func(x *evidence.Terms) { x.Voters = -1 },
		"pause: 2000h0m0s is not between 0 and 1000h": func(x *evidence.Terms) { x.Pause = 2000 * time.Hour },
		`promise.duties: "cooks" is none of`:          func(x *evidence.Terms) { x.Promise.Duties = []promise.Duty{"cooks"} },
		`promise.exclusion: "luck" is none of`: func(x *evidence.Terms) {
			x.Promise.Exclusion = []promise.Fault{
				"luck"}
		},
		`promise.free_within: "soon" is none of`: func(x *evidence.Terms) { x.Promise.FreeWithin = "soon" },
		`promise.free_after.expired lease: "soon" is none`: func(x *evidence.Terms) {
			x.Promise.FreeAfter = map[promise.Cause]promise.Term{promise.CauseExpiry: "soon"}
		},
		`promise.free_after: "whim" is none of`: func(
			x *evidence.Terms) {
			x.Promise.FreeAfter = map[promise.Cause]promise.Term{"whim": promise.TermTTL}
		},
		`promise.data: unknown fencing mode "wishful"`: func(x *evidence.Terms) { x.Promise.Data = "wishful" },
	} {
		x := good
		change(&x)
		if err := x.Validate(); !errors.Is(err, evidence.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
