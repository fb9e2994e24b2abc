package evidence_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// request is a request of a kind, and reply an answer: "0" has found nothing, and "-" is an error.
type (
	request struct{ trace.Text }
	reply   struct{ trace.Text }
)

func (r request) Kind() string { return string(r.Text) }
func (r reply) Negative() bool { return r.Text != "1" }
func (r reply) Failed() bool   { return r.Text == "-" }

// A refusal is a renewal that has found nothing, and whose answer its client has received.
func TestRefusalsOf(t *testing.T) {
	exec := func(client, conn, kind, answer trace.Text) trace.Event {
		return trace.Event{Actor: "r0", Peer: string(client), What: trace.Exec{Conn: string(conn), Request: request{kind},
			Answer: reply{answer}}}
	}
	receive := func(client, conn string) trace.Event {
		return trace.Event{Actor: client, Peer: "r0", What: trace.Receive{Conn: conn}}
	}
	made := &trace.Trace{}
	for i, e := range []trace.Event{
		exec("c0", "#1", "extend", "1"), receive("c0", "#1"),
		exec("c0", "#1", "extend", "0"), receive("c0", "#2"), receive("c1", "#1"), receive("c0", "#1"), // told at 6
		exec("c0", "#1", "extend", "-"), receive("c0", "#1"),
		exec("c0", "#1", "take", "0"), receive("c0", "#1"),
		exec("probe", "#9", "extend", "0"), receive("probe", "#9"),
		exec("c1", "#3", "extend", "0"), // whose answer does not come
	} {
		e.N, e.At = i+1, tenth(i+1)
		made.Events = append(made.Events, e)
	}
	change := func(change trace.Change, asked, kind string) trace.KeyChange {
		return trace.KeyChange{Key: "lock:order", Change: change, By: "c0", Asked: asked, Request: kind}
	}
	renewed := []trace.KeyChange{change(trace.KeySet, "c0", "take"), change(trace.KeyProlonged, "c0", "extend"),
		change(trace.KeyProlonged, "c0", "take")}
	for name, c := range map[string]struct {
		changes []trace.KeyChange
		want    []evidence.Refusal
	}{
		"a renewal that is known":      {renewed, []evidence.Refusal{{At: 3, Told: 6, Client: "c0", Server: "r0"}}},
		"nothing is known of renewals": {renewed[:1], nil},
		"another prolonged it":         {[]trace.KeyChange{change(trace.KeyProlonged, "c1", "extend")}, nil},
		"what prolongs it also takes it": {slices.Concat(renewed, []trace.KeyChange{change(trace.KeySet, "c1", "extend")}),
			nil},
	} {
		if diff := cmp.Diff(c.want, evidence.RefusalsOf(made, []string{"c0", "c1"}, c.changes)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// A lock knows of a loss from the first answer on to a renewal that came to the server after it, if its own key was
// lost, and the lock has one key on one server.
func TestKnown(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		change func(r *run)
		want   checker.Pos
	}{
		"told":                     {want: 42},
		"told of nothing":          {change: func(r *run) { r.rec.Timeline.Refusals = nil }},
		"the refusal came before":  {change: func(r *run) { r.rec.Timeline.Refusals[0].At = 29 }, want: 52},
		"another client's":         {change: func(r *run) { r.rec.Timeline.Refusals[0].Client = "c1" }, want: 52},
		"another server's":         {change: func(r *run) { r.rec.Timeline.Refusals[0].Server = "r1" }, want: 52},
		"the key was not lost":     {change: func(r *run) { r.rec.Changes = r.rec.Changes[:1] }},
		"it was only prolonged":    {change: func(r *run) { r.rec.Changes[1].Change = trace.KeyProlonged }},
		"the key was another's":    {change: func(r *run) { r.rec.Changes[0].By = "c1" }},
		"the key was there before": {change: func(r *run) { r.rec.Changes[0].Step = 9 }},
		"another server took its place": {change: func(r *run) {
			r.rec.Timeline.Promotions = []evidence.Promotion{{At: 50,
				To: "r0a"}}
		}},
		"on several servers": {change: func(r *run) { r.terms.Voters = 3 }},
		"several resources":  {text: "workload: {resources: [order, stock]}\n"},
	} {
		r := runOf(t, c.text)
		r.granted("c0", evidence.Grant{Grant: checker.Grant{Invoked: 10, Granted: 20}})
		r.rec.Changes = []trace.KeyChange{sets(15, "r0", "c0", "v"), removes(30, "r0", "")}
		r.rec.Timeline.Refusals = []evidence.Refusal{{At: 40, Told: 42, Client: "c0", Server: "r0"},
			{At: 50, Told: 52, Client: "c0", Server: "r0"}}
		if got := r.with(c.change).history().Grants[0].Known; got != c.want {
			t.Errorf("%s: known at %d, want %d", name, got, c.want)
		}
	}
}
