package fences_test

import (
	"fmt"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/fences"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// lateSections is a scenario with all that a fence has to meet: late writes of three clients on two keys, and answers
// that are lost.
const lateSections = `
name: late
store: %s
world: {redis: 1, clients: 3, latency: 1ms..5ms}
lock: {kind: ledger, ttl: 1s, backoff: 10ms..50ms}
workload: {kind: late, rounds: 8, hold: 500ms, think: 100ms, timeout: 200ms, resources: [order, stock]}
faults:
  - when: {client: c0, event: write, nth: 2}
    partition: {between: [c0], and: [r0], for: 2s, bytes: hold}
  - when: {client: c1, event: write, nth: 4}
    partition: {between: [c1], and: [r0], for: 2s, bytes: hold}
`

// Sections try a fence: they write late, twice, after their release and again, and a last read says what is left.
func TestLateSections(t *testing.T) {
	for _, rule := range []fence.Mode{fence.Check, fence.Strict} {
		f := fences.Guard(rule)
		var all checker.FenceTries
		var unanswered, acknowledged, released, late, sent, reads int
		for seed := range uint64(20) {
			sc := testruns.Parse(t, fmt.Sprintf(lateSections, f.Name))
			o := testruns.Play(t, sc, f.Subject(), play.RunOptions{Seed: seed + 1})
			h := o.Modes[0].History
			all.Add(h.FenceTries())
			lastReads(t, sc, h)
			grants, writes := map[int]checker.Grant{}, map[string]checker.Op{}
			for _, g := range h.Grants {
				grants[g.ID] = g
			}
			for _, op := range h.Ops {
				if op.Kind == checker.Write {
					writes[op.ID] = op
				}
			}
			for _, op := range h.Ops {
				if happened(grants[op.Grant].Released, op.Invoked) {
					released++
				}
				if op.Kind == checker.Read {
					reads++
					continue
				}
				if sent++; happened(grants[op.Grant].Until, op.Invoked) {
					late++
				}
				if op.Again == "" {
					continue
				}
				switch first := writes[op.Again]; {
				case first.Outcome == checker.OutcomeOK:
					acknowledged++
				case first.Outcome == checker.OutcomeUnknown:
					unanswered++
				default:
					t.Errorf("seed %d: %s is sent again as %s, although it was %s", seed, first.ID, op.ID, first.Outcome)
				}
			}
			if f := o.Modes[0].Verdict.Facts; f.StaleAccepted+f.LostUpdates+f.Unexplained+f.FalseRejects > 0 {
				t.Errorf("seed %d: %s", seed, o.Modes[0].Verdict.Reasons[0].Text)
			}
		}
		t.Logf("%s: %s", rule, all)
		if missing := all.Missing(rule); len(missing) > 0 {
			t.Errorf("%s: not tried: %q", rule, missing)
		}
		if min(acknowledged, unanswered, released, reads) == 0 || 4*late < sent || 4*late > 3*sent {
			t.Errorf("%s: retries of an acknowledged write %d, of one without an answer %d; after the release %d; late writes "+
				"%d of %d; reads %d", rule, acknowledged, unanswered, released, late, sent, reads)
		}
	}
}

// happened reports whether something had happened when an operation was sent.
func happened(event, sent checker.Pos) bool { return event > 0 && event < sent }

// lastReads fails the test if the probe has not read each key under a grant of its own, and so with the highest token.
// Under strict another grant may have had it too: then the read is refused.
func lastReads(t *testing.T, sc *file.Scenario, h checker.History) {
	t.Helper()
	var read []string
	for _, o := range h.Last {
		read = append(read, string(o.Resource))
		refused := o.Outcome == checker.OutcomeRefused && h.Fence == fence.Strict
		if o.Outcome != checker.OutcomeOK && !refused || o.Returned <= o.Invoked {
			t.Errorf("the last read %+v has no answer", o)
		}
		for _, other := range h.Ops {
			if other.Resource == o.Resource && (other.Token > o.Token || other.Token == o.Token && h.Fence != fence.Strict) {
				t.Errorf("the last read of %s has the token %d, and %s has %d", o.Resource, o.Token, other.ID, other.Token)
			}
		}
	}
	if !slices.Equal(read, sc.Workload.Resources) {
		t.Errorf("the last reads are of %q, want %q", read, sc.Workload.Resources)
	}
}
