package checker

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The reason of a stale operation that was refused says what it would have
// done, if that is certain.
func TestConsequences(t *testing.T) {
	a, b := held(1, "c0", 2, 80).until(10, 0), held(2, "c1", 20, 90)
	both := []Grant{a, b}
	read := a.read("a1", 4, "")
	const at = " at step 31: c1 had been granted orders at step 20."
	for _, c := range []struct {
		name string
		h    History
		want string
		at   []Pos
	}{
		// F11: the new holder has written.
		{"overwrites", story("b2", both, read, b.read("b1", 22, ""), b.write("b2", 25, ""), a.write("a2", 30, "").refused()),
			"c0's stale write a2 was refused" + at + " It is based on the initial value, so it would have undone c1's write " +
				"b2 (step 26).", []Pos{31, 20, 26}},
		// F14: the new holder has read and writes later.
		{"is overwritten", story("b2", both, read, b.read("b1", 22, ""), a.write("a2", 30, "").refused(),
			b.write("b2", 35, "")),
			"c0's stale write a2 was refused" + at + " It would have been undone by c1's write b2 (step 36), which is based " +
				"on the initial value too.", []Pos{31, 20, 36}},
		// The new holder would have read it, and written on its basis.
		{"harmless", story("b2", both, read, a.write("a2", 30, "").refused(), b.read("b1", 33, ""), b.write("b2", 36, "")),
			"c0's stale write a2 was refused" + at, []Pos{31, 20}},
		{"nobody else wrote", story("", both, read, a.write("a2", 30, "").refused()),
			"c0's stale write a2 was refused" + at, []Pos{31, 20}},
		{"based on nothing known", story("", both, a.write("a2", 30, "ghost").refused()),
			"c0's stale write a2 was refused" + at, []Pos{31, 20}},
		{"read", story("", both, a.read("a2", 30, "").refused()),
			"c0's stale read a2 was refused" + at + " Its section ended there, before it wrote.", []Pos{31, 20}},
		{"read, others wrote", story("b2", both, a.read("a2", 30, "").refused(), b.write("b2", 40, "")),
			"c0's stale read a2 was refused" + at + " Its section ended there, before it wrote.", []Pos{31, 20}},
		{"read, wrote all the same", story("a3", both, a.read("a2", 30, "").refused(), a.write("a3", 40, "")),
			"c0's stale read a2 was refused" + at, []Pos{31, 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, &Facts{Data: DataCorrupted, TornSections: 1})
			i := slices.IndexFunc(v.Reasons, func(r Reason) bool { return r.Text == c.want })
			if i != 1 || !slices.Equal(v.Reasons[1].At, c.at) {
				t.Errorf("reasons %+v\nwant second %q at %v", v.Reasons, c.want, c.at)
			}
			if want := "The store refused what was stale, and that saved the data: without a fence the run ended corrupted, " +
				"with torn sections: 1."; v.Reasons[0].Text != want {
				t.Errorf("first reason %q, want %q", v.Reasons[0].Text, want)
			}
		})
	}
	// If the data is undecided, nothing is certain.
	h := story("b2", both, read, b.write("b2", 25, ""), a.write("a2", 30, "").refused())
	v := judge(h, nil, 2)
	if want := "c0's stale write a2 was refused" + at; !slices.Contains(texts(v.Reasons), want) {
		t.Errorf("undecided: reasons %q lack %q", texts(v.Reasons), want)
	}
}

// A lock that is stuck or leaked names what may have left a key behind.
func TestLivenessReasons(t *testing.T) {
	h := story("", []Grant{held(1, "c0", 2, 10), held(2, "c1", 20, 0).crashed(30), held(3, "c2", 40, 50),
		held(4, "c3", 60, 0), held(5, "c0", 70, 80)})
	h.Grants[2].ReleaseReturned = 0
	h.Attempts = []Attempt{
		{Client: "c5", Resource: "orders", Invoked: 90, Outcome: OutcomeUnknown},
		{Client: "c4", Resource: "orders", Invoked: 85, Returned: 88, Outcome: OutcomeUnknown},
		{Client: "c6", Resource: "orders", Invoked: 85, Returned: 88, Outcome: OutcomeFailed},
	}
	h.Holdings = []Holding{holds("c3", 59, 0), holds("c0", 1, 12)}
	h.Ending = Ending{Asked: 1, Granted: true, Leftovers: []Leftover{{Server: "r0", Key: "order"}}}
	want := []Reason{
		{Text: "The lock left a key behind that nobody will release. The key order on r0 has no TTL: nothing will ever " +
			"free it."},
		{Text: "By the nodes' own record c3 held orders from step 59 to the end.", At: []Pos{59}},
		{Text: "c1 was granted orders at step 20, and did not release it: it died at step 30.", At: []Pos{20, 30}},
		{Text: "c2 was granted orders at step 40, and its release of step 50 did not return.", At: []Pos{40, 50}},
		{Text: "c3 was granted orders at step 60, and did not release it.", At: []Pos{60}},
		{Text: "c0 was granted orders at step 70, the last of all, and had released it at step 81.", At: []Pos{70, 81}},
		{Text: "c4 asked for orders at step 85 and had no answer: it may have been granted it.", At: []Pos{85}},
		{Text: "c5 asked for orders at step 90 and had no answer: it may have been granted it.", At: []Pos{90}},
	}
	v := mustJudge(t, h, nil)
	if diff := cmp.Diff(want, v.Reasons[:min(len(want), len(v.Reasons))]); v.Label != Stuck || diff != "" {
		t.Errorf("label %s, reasons (-want +got):\n%s", v.Label, diff)
	}
}

// For each label except safe, and unknown by a budget, the first or second
// reason has a step.
func TestReasonsPointSomewhere(t *testing.T) {
	for _, h := range []History{
		gcPause(accepted, "c0.2"),
		tornSections()[0].h,
		serialCases()[2].h,
		story("", []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)}),
		story("", []Grant{held(1, "c0", 2, 50)}, held(1, "c0", 2, 50).write("a1", 5, "").refused()),
	} {
		v := mustJudge(t, h, nil)
		if v.Label == Safe || len(v.Reasons[0].At) < 2 {
			t.Errorf("label %s: %q points to %v", v.Label, v.Reasons[0].Text, v.Reasons[0].At)
		}
	}
}
