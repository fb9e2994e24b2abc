package evidence_test

import (
	"slices"
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// tenth is the instant of a step: step 1 is 100 ms after the start, step 10 one second after it.
func tenth(step int) time.Duration { return time.Duration(step) * 100 * time.Millisecond }

// run is a scenario, the terms of a lock and what a driver has seen. Tests change one thing of it.
type run struct {
	sc    *file.Scenario
	terms evidence.Terms
	rec   *evidence.Record
}

// history is what the evidence makes of it.
func (r run) history() checker.History { return evidence.History(r.sc, r.terms, r.rec) }

// runOf is a run of the scenario that a text describes, with a lock that asks its servers, over three of them if the
// scenario has so many, and pauses as it says. Its clients run from the start, and their work ends at step 90, which is
// 9 s. Each fault with an instant has struck then and was not felt.
func runOf(t testing.TB, text string) run {
	t.Helper()
	sc, err := file.Parse("run.yaml", []byte("name: run\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	rec := &evidence.Record{Over: 90, AskedFor: time.Minute, Keys: map[string][]string{}}
	for i := range 100 {
		rec.Timeline.At = append(rec.Timeline.At, tenth(i+1))
	}
	for _, name := range sc.Clients() {
		rec.Clients = append(rec.Clients, evidence.Client{Name: name})
	}
	for _, name := range sc.RedisNodes() {
		rec.Servers = append(rec.Servers, trace.Server{Name: name, Kind: "redis", Role: trace.RoleSingle})
	}
	for _, resource := range sc.Workload.Resources {
		rec.Keys[resource] = []string{"lock:" + resource}
	}
	for _, f := range sc.Faults {
		rec.Faults = append(rec.Faults, evidence.Fault{Fired: true, Strike: evidence.Strike{Struck: f.At}})
		step := checker.Pos(f.At / tenth(1))
		switch a := f.Action.(type) {
		case faults.Crash:
			rec.Timeline.Ends = append(rec.Timeline.Ends, evidence.End{At: step, Name: a.Process})
		case faults.KillWorker:
			rec.Timeline.Ends = append(rec.Timeline.Ends, evidence.End{At: step, Name: a.Process})
		case faults.Restart:
			rec.Timeline.Starts = append(rec.Timeline.Starts, evidence.Start{At: step, Name: a.Process})
		}
	}
	nodes := len(rec.Servers)
	return run{sc, evidence.Terms{Nodes: nodes, Voters: nodes, FollowsSpec: true, Promise: promise.OfLease()}, rec}
}

// with is the run after a change.
func (r run) with(change func(r *run)) run {
	if change != nil {
		change(&r)
	}
	return r
}

// sets and removes are changes of the key of the resource order on a server, by a client's request; "" is the server.
func sets(step int, server, client, value string) trace.KeyChange {
	return trace.KeyChange{Step: step, At: tenth(step), Server: server, Key: "lock:order", Value: value, By: client,
		Change: trace.KeySet}
}

func removes(step int, server, client string) trace.KeyChange {
	c := trace.KeyChange{Step: step, At: tenth(step), Server: server, Key: "lock:order", By: client,
		Change: trace.KeyDeleted}
	if client == "" {
		c.Change = trace.KeyExpired
	}
	return c
}

// granted gives a client a grant of order.
func (r *run) granted(client string, g evidence.Grant) {
	i := slices.IndexFunc(r.rec.Clients, func(c evidence.Client) bool { return c.Name == client })
	g.Client, g.Resource = client, "order"
	r.rec.Clients[i].Grants = append(r.rec.Clients[i].Grants, g)
}
