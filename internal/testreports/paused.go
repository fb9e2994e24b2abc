package testreports

import (
	"fmt"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// Paused is a run written by hand: c0 reads, is paused past the end of its lease, and
// writes after c1 has written. The store takes that write without a fence, and refuses
// it with one.
func Paused(mode fence.Mode) outcome.ModeRun {
	answer, refused, label, accepted := "OK", "", checker.Corrupted, true
	if mode != fence.None {
		answer, refused, label, accepted = "REFUSED token 1 is below 2", "token 1 is below 2", checker.Rescued, false
	}
	m := Run(mode, label, "c0's write c0.w2 (step 20) was stale.")
	m.Trace = &trace.Trace{Servers: Servers()}
	for _, e := range pausedEvents(refused) {
		m.Trace.Add(e)
	}
	m.Events, m.TraceHash = m.Trace.Len(), m.Trace.Hash()
	m.History = checker.History{Care: checker.CareNever,
		Final: map[checker.Cell]string{{Resource: "order", Register: "balance"}: "c1.w2"},
		Grants: []checker.Grant{
			{ID: 1, Client: "c0", Resource: "order", Token: 1, Invoked: 1, Granted: 5, Until: 9, Released: 21},
			{ID: 2, Client: "c1", Resource: "order", Token: 2, Invoked: 8, Granted: 11, Released: 16},
		},
		Ops: []checker.Op{
			op("c0.r1", checker.Read, 1, 6, 6, true, ""),
			op("c1.w2", checker.Write, 2, 12, 13, true, ""),
			op("c0.w2", checker.Write, 1, 18, 20, accepted, ""),
		},
		Holdings: []checker.Holding{{Client: "c0", Resource: "order", From: 3, To: 10},
			{Client: "c1", Resource: "order", From: 10, To: 15}},
	}
	m.Story = []outcome.Line{
		Line(1, 1*ms, "c0", "asks for the lock"),
		Line(7, 7*ms, "c0", "PAUSED for 10s"),
		Fatal(Line(20, 20*time.Second, "s0", answer+" write c0.w2 (token 1)")),
	}
	return m
}

func op(id string, kind checker.OpKind, grant int, invoked, applied checker.Pos, accepted bool, saw string) checker.Op {
	o := checker.Op{ID: id, Client: id[:2], Grant: grant, Resource: "order", Register: "balance", Kind: kind,
		Token:   uint64(grant),
		Invoked: invoked, Applied: applied, Returned: applied + 1, Accepted: accepted, Saw: saw, Outcome: checker.OutcomeOK}
	if !accepted {
		o.Outcome = checker.OutcomeRefused
	}
	return o
}

// pausedEvents are the events of [Paused]. refused is the reason for which the store
// refuses the stale write, "" where it takes it.
func pausedEvents(refused string) []trace.Event {
	set, stale := Content("SET lock:order id-of-c0-0123456789 NX PX 5000"), Written(1, "c0.w2", "c0.g1")
	stale.Refused = refused
	return []trace.Event{
		{At: 1 * ms, Actor: "c0", What: trace.Mark{Step: trace.Acquire, Resource: "order"}},
		{At: 2 * ms, Actor: "c0", Peer: "r0", What: trace.Send{Conn: "#1", Content: set}},
		{At: 3 * ms, Actor: "r0", Peer: "c0", What: trace.Exec{Conn: "#1", Request: set, Answer: Content("OK")}},
		{At: 3 * ms, Actor: "r0", Peer: "c0", What: trace.Send{Conn: "#1", Content: Content("OK")}},
		{At: 5 * ms, Actor: "c0", What: trace.Mark{Step: trace.Granted, Resource: "order", Token: 1}},
		{At: 6 * ms, Actor: "s0", Peer: "c0", What: trace.Decision{Conn: "#1", Resource: "order", Register: "balance",
			Op: "c0.r1", Token: 1, Grant: "c0.g1"}},
		{At: 7 * ms, Actor: "world", Peer: "c0", What: trace.Pause{For: 10 * time.Second}},
		{At: 8 * ms, Actor: "c1", What: trace.Mark{Step: trace.Acquire, Resource: "order"}},
		{At: 5 * time.Second, Actor: "c0", What: trace.Mark{Step: trace.Until, Resource: "order"}},
		{At: 5 * time.Second, Actor: "r0", What: trace.Expire{Key: "lock:order"}},
		{At: 6 * time.Second, Actor: "c1", What: trace.Mark{Step: trace.Granted, Resource: "order", Token: 2}},
		{At: 7 * time.Second, Actor: "c1", Peer: "s0",
			What: trace.Send{Conn: "#1", Content: ContentWithShort("WRITE order balance c1.w2 2 c1.g1 -",
				"write c1.w2 (token 2)")}},
		{At: 7*time.Second + 2*ms, Actor: "s0", Peer: "c1", What: Written(2, "c1.w2", "c1.g1")},
		{At: 7*time.Second + 2*ms, Actor: "s0", Peer: "c1", What: trace.Send{Conn: "#1", Content: Content("OK")}},
		{At: 7*time.Second + 3*ms, Actor: "c1", Peer: "s0", What: trace.Receive{Conn: "#1", Bytes: 3}},
		{At: 7*time.Second + 4*ms, Actor: "c1", What: trace.Mark{Step: trace.Release, Resource: "order"}},
		{At: 10 * time.Second, Actor: "world", Peer: "c0", What: trace.Resume{}},
		{At: 19 * time.Second, Actor: "c0", Peer: "s0",
			What: trace.Send{Conn: "#1", Content: ContentWithShort("WRITE order balance c0.w2 1 c0.g1 -",
				"write c0.w2 (token 1)")}},
		{At: 19 * time.Second, Actor: "c0", Peer: "r0", What: trace.Send{Conn: "#1", Content: ContentWithShort("PING", "")}},
		{At: 20 * time.Second, Actor: "s0", Peer: "c0", What: stale},
		{At: 20 * time.Second, Actor: "c0", What: trace.Mark{Step: trace.Release, Resource: "order"}},
	}
}

// Written is a write that the store takes.
func Written(token uint64, op, grant string) trace.Decision {
	return trace.Decision{Conn: "#1", Write: true, Resource: "order", Register: "balance", Op: op, Token: token,
		Grant: grant}
}

// PausedOutcome is the outcome with [Paused] without a fence and with one.
func PausedOutcome() *outcome.Outcome {
	o := Outcome(Paused(fence.None), Paused(fence.Check), NotApplicable(fence.Seal))
	o.Scenario.Source = []byte("name: gc-pause\n")
	return o
}

// Large is [Paused] followed by n rounds of two clients, of nine events each.
func Large(mode fence.Mode, n int) outcome.ModeRun {
	m := Paused(mode)
	m.History.Final, m.History.Ops = map[checker.Cell]string{}, nil
	set := Content("SET lock:order id NX PX 5000")
	for i := range n {
		at, c := 21*time.Second+time.Duration(i)*time.Second, fmt.Sprintf("c%d", i%2)
		from := checker.Pos(m.Trace.Len() + 1)
		id, token := fmt.Sprintf("%s.w%d", c, i+3), uint64(i+3)
		write := Written(token, id, c+".g1")
		for _, e := range []trace.Event{
			{Actor: c, What: trace.Mark{Step: trace.Acquire, Resource: "order"}},
			{Actor: c, Peer: "r0", What: trace.Send{Conn: "#1", Content: set}},
			{Actor: "r0", Peer: c, What: trace.Exec{Conn: "#1", Request: set, Answer: Content("OK")}},
			{Actor: "r0", Peer: c, What: trace.Send{Conn: "#1", Content: Content("OK")}},
			{Actor: c, What: trace.Mark{Step: trace.Granted, Resource: "order", Token: token}},
			{Actor: c, Peer: "s0",
				What: trace.Send{Conn: "#1", Content: ContentWithShort(fmt.Sprintf("WRITE order balance %s %d %s.g1 -", id, token,
					c), write.Brief())}},
			{Actor: "s0", Peer: c, What: write},
			{Actor: "s0", Peer: c, What: trace.Send{Conn: "#1", Content: Content("OK")}},
			{Actor: c, What: trace.Mark{Step: trace.Release, Resource: "order"}},
		} {
			e.At = at
			m.Trace.Add(e)
		}
		m.Story = append(m.Story, Line(int(from)+4, at, c, "is granted order"))
		m.History.Grants = append(m.History.Grants, checker.Grant{ID: i + 3, Client: c, Resource: "order", Invoked: from,
			Granted: from + 4, Released: from + 8})
		m.History.Holdings = append(m.History.Holdings, checker.Holding{Client: c, Resource: "order", From: from + 2,
			To: from + 8})
	}
	m.Events = m.Trace.Len()
	return m
}
