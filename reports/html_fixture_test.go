package reports_test

import (
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/sim/trace"
)

// paused is a run by hand: c0 reads, is paused past its lease, and writes after c1
// has. The store takes or refuses that write.
func paused(mode fence.Mode) scenarios.ModeRun {
	answer, label, accepted := "OK", checker.Corrupted, true
	if mode != fence.None {
		answer, label, accepted = "REFUSED token 1 is below 2", checker.Rescued, false
	}
	m := run(mode, label, "c0's write c0.w2 (step 20) was stale.")
	m.Trace = &trace.Trace{}
	for _, e := range pausedEvents(answer) {
		m.Trace.Add(e)
	}
	m.Events, m.TraceHash = m.Trace.Len(), m.Trace.Hash()
	m.History = checker.History{Care: checker.CareNever, Liveness: checker.LivenessOK, Final: map[checker.Cell]string{{Resource: "order", Register: "balance"}: "c1.w2"},
		Grants: []checker.Grant{
			{ID: 1, Client: "c0", Resource: "order", Token: 1, Invoked: 1, Granted: 5, Until: 9, Released: 21},
			{ID: 2, Client: "c1", Resource: "order", Token: 2, Invoked: 8, Granted: 11, Released: 16},
		},
		Ops: []checker.Op{
			op("c0.r1", checker.Read, 1, 6, 6, true, ""),
			op("c1.w2", checker.Write, 2, 12, 13, true, ""),
			op("c0.w2", checker.Write, 1, 18, 20, accepted, ""),
		},
		Holdings: []checker.Holding{{Client: "c0", Resource: "order", From: 3, To: 10}, {Client: "c1", Resource: "order", From: 10, To: 15}},
	}
	m.Story = []scenarios.Line{
		{N: 1, At: 1 * ms, Actor: "c0", Text: "asks for the lock"},
		{N: 7, At: 7 * ms, Actor: "c0", Text: "PAUSED for 10s"},
		{N: 20, At: 20 * time.Second, Actor: "s0", Text: answer + " write c0.w2 (token 1)", Fatal: true},
	}
	return m
}

func op(id string, kind checker.OpKind, grant int, invoked, applied checker.Pos, accepted bool, saw string) checker.Op {
	o := checker.Op{ID: id, Client: id[:2], Grant: grant, Resource: "order", Register: "balance", Kind: kind, Token: uint64(grant),
		Invoked: invoked, Applied: applied, Returned: applied + 1, Accepted: accepted, Saw: saw, Outcome: checker.OutcomeOK}
	if !accepted {
		o.Outcome = checker.OutcomeRefused
	}
	return o
}

func pausedEvents(answer string) []trace.Event {
	return []trace.Event{
		{At: 1 * ms, Actor: "c0", Kind: "acquire", Text: "order"},
		{At: 2 * ms, Actor: "c0", Kind: "send", Peer: "r0", Text: "#1 SET lock:order id-of-c0-0123456789 NX PX 5000"},
		{At: 3 * ms, Actor: "r0", Kind: "exec", Peer: "c0", Text: "SET lock:order id-of-c0-0123456789 NX PX 5000 -> OK"},
		{At: 3 * ms, Actor: "r0", Kind: "send", Peer: "c0", Text: "#1 OK"},
		{At: 5 * ms, Actor: "c0", Kind: "granted", Text: "order token=1"},
		{At: 6 * ms, Actor: "s0", Kind: "store", Peer: "c0", Text: "READ order balance c0.r1 1 c0.g1 - -> OK"},
		{At: 7 * ms, Actor: "world", Kind: "pause", Peer: "c0", Text: "10s"},
		{At: 8 * ms, Actor: "c1", Kind: "acquire", Text: "order"},
		{At: 5 * time.Second, Actor: "c0", Kind: "until", Text: "order"},
		{At: 5 * time.Second, Actor: "r0", Kind: "expire", Text: "lock:order"},
		{At: 6 * time.Second, Actor: "c1", Kind: "granted", Text: "order token=2"},
		{At: 7 * time.Second, Actor: "c1", Kind: "send", Peer: "s0", Text: "#1 WRITE order balance c1.w2 2 c1.g1 -"},
		{At: 7*time.Second + 2*ms, Actor: "s0", Kind: "store", Peer: "c1", Text: "WRITE order balance c1.w2 2 c1.g1 - -> OK"},
		{At: 7*time.Second + 2*ms, Actor: "s0", Kind: "send", Peer: "c1", Text: "#1 OK"},
		{At: 7*time.Second + 3*ms, Actor: "c1", Kind: "recv", Peer: "s0", Text: "#1 3 bytes"},
		{At: 7*time.Second + 4*ms, Actor: "c1", Kind: "release", Text: "order"},
		{At: 10 * time.Second, Actor: "world", Kind: "resume", Peer: "c0"},
		{At: 19 * time.Second, Actor: "c0", Kind: "send", Peer: "s0", Text: "#1 WRITE order balance c0.w2 1 c0.g1 -"},
		{At: 19 * time.Second, Actor: "c0", Kind: "send", Peer: "r0", Text: "#1 PING"},
		{At: 20 * time.Second, Actor: "s0", Kind: "store", Peer: "c0", Text: "WRITE order balance c0.w2 1 c0.g1 - -> " + answer},
		{At: 20 * time.Second, Actor: "c0", Kind: "release", Text: "order"},
	}
}

// pausedOutcome is that run without a fence and with one.
func pausedOutcome() *scenarios.Outcome {
	o := outcome(paused(fence.None), paused(fence.Check), notApplicable(fence.Seal))
	o.Scenario.Source = []byte("name: gc-pause\n")
	return o
}
