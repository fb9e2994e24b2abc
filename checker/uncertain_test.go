package checker

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// exact are spans of positions whose instants are known: one millisecond apart.
func exact(n int) []Span {
	spans := make([]Span, n)
	for i := range spans {
		at := time.Duration(i+1) * time.Millisecond
		spans[i] = Span{at, at}
	}
	return spans
}

// handOver is a lock that c0 releases at 6 and c1 is granted at 7.
func handOver() History {
	ok := OutcomeOK
	return History{
		Grants: []Grant{
			{ID: 1, Client: "c0", Resource: "r", Invoked: 1, Granted: 2, Released: 6, ReleaseReturned: 9},
			{ID: 2, Client: "c1", Resource: "r", Invoked: 3, Granted: 7, Released: 11, ReleaseReturned: 12},
		},
		Ops: []Op{
			{ID: "a", Client: "c0", Grant: 1, Resource: "r", Kind: Write, Invoked: 4, Applied: 4, Accepted: true, Returned: 5,
				Outcome: ok},
			{ID: "b", Client: "c1", Grant: 2, Resource: "r", Kind: Write, Invoked: 8, Applied: 8, Accepted: true, Returned: 10,
				Outcome: ok, Saw: "a"},
		},
		Final: map[Cell]string{{Resource: "r"}: "b"},
	}
}

func TestOrderWithinTheUncertainty(t *testing.T) {
	for name, tt := range map[string]struct {
		vague  [2]Pos // whose spans overlap
		want   Label
		reason string
	}{
		"nothing is vague": {want: Safe},
		"release and grant": {vague: [2]Pos{6, 7}, want: Unknown, reason: "Order within the uncertainty: " +
			"step 7 may have come before step 6, and then the run is overlap, where otherwise it is safe."},
		"a release's return and a write":  {vague: [2]Pos{8, 9}, want: Safe},
		"an acquire and another's grant":  {vague: [2]Pos{2, 3}, want: Safe},
		"steps of one client, one by one": {vague: [2]Pos{4, 5}, want: Safe}, // the other order is no history
	} {
		t.Run(name, func(t *testing.T) {
			h := handOver()
			h.Within = exact(12)
			if p, q := tt.vague[0], tt.vague[1]; p > 0 {
				h.Within[p-1].To = h.Within[q-1].From
			}
			v, err := Judge(h, nil)
			if err != nil || v.Label != tt.want {
				t.Fatalf("label %s, %v, want %s: %v", v.Label, err, tt.want, v.Reasons)
			}
			if tt.reason != "" && v.Reasons[0].Text != tt.reason {
				t.Errorf("the first reason is %q, want %q", v.Reasons[0].Text, tt.reason)
			}
		})
	}
}

// The last two positions of a history may have come in the other order as any others: the lock was released, or granted
// to another, when the record ends.
func TestOrderOfTheLastSteps(t *testing.T) {
	for vague, want := range map[bool]Label{false: Safe, true: Unknown} {
		h := story("", []Grant{held(1, "c0", 2, 4), held(2, "c1", 5, 0).asked(3)})
		h.Grants[0].ReleaseReturned = 0
		h.Within = exact(5)
		if vague {
			h.Within[4-1].To = h.Within[5-1].From
		}
		if v := mustJudge(t, h, nil); v.Label != want {
			t.Errorf("vague %v: label %s, want %s: %v", vague, v.Label, want, v.Reasons)
		}
	}
}

// An order in which a grant comes before its own request is none: only there would
// c1 hold the lock before c0 has released it.
func TestImpossibleOrdersDoNotCount(t *testing.T) {
	ok := OutcomeOK
	h := History{
		Grants: []Grant{
			{ID: 1, Client: "c0", Resource: "r", Invoked: 1, Granted: 2, Released: 6, ReleaseReturned: 7},
			{ID: 2, Client: "c1", Resource: "r", Invoked: 8, Granted: 9, Released: 13, ReleaseReturned: 14},
		},
		Ops: []Op{
			{ID: "a", Client: "c0", Grant: 1, Resource: "r", Kind: Write, Invoked: 3, Applied: 4, Accepted: true, Returned: 5,
				Outcome: ok},
			{ID: "b", Client: "c1", Grant: 2, Resource: "r", Kind: Write, Invoked: 10, Applied: 11, Accepted: true, Returned: 12,
				Outcome: ok, Saw: "a"},
		},
		Final:  map[Cell]string{{Resource: "r"}: "b"},
		Within: exact(14),
	}
	h.Within[9-1].From = h.Within[6-1].From // c1's grant, from c0's release on
	if v, err := Judge(h, nil); err != nil || v.Label != Safe {
		t.Errorf("label %s, %v, want safe: %v", v.Label, err, v.Reasons)
	}
}

// A history in which too many orders are possible is undecided, soon, even if all
// that are tried have the same label.
func TestTooManyOrders(t *testing.T) {
	h := handOver()
	h.Grants, h.Ops = h.Grants[:1], h.Ops[:1]
	h.Attempts = []Attempt{{Client: "c1", Resource: "r", Invoked: 10, Returned: 11, Outcome: OutcomeFailed}}
	h.Final = map[Cell]string{{Resource: "r"}: "a"}
	h.Within = make([]Span, 12)
	for i := range h.Within {
		h.Within[i] = Span{0, time.Second}
	}
	v, err := Judge(h, nil)
	want := fmt.Sprintf("Order within the uncertainty: more than %d orders of what happened are possible.", MaxOrders)
	if err != nil || v.Label != Unknown || v.Reasons[0].Text != want {
		t.Fatalf("label %s, %v, want unknown and the reason %q: %v", v.Label, err, want, v.Reasons)
	}
}

// Whatever happened in a history takes part in its orders: no position is left out.
func TestEveryPositionIsReordered(t *testing.T) {
	h := History{Grants: make([]Grant, 2), Attempts: make([]Attempt, 2), Ops: make([]Op, 2),
		Deletions: make([]Deletion, 2), Holdings: make([]Holding, 2)}
	last, order := Pos(0), map[Pos]Pos{}
	eachPos(reflect.ValueOf(&h).Elem(), "History", func(p *Pos, _ string) {
		last++
		*p, order[last] = last, last+1_000
	})
	if last < 2*(10+4+3+1+2) {
		t.Fatalf("a history of two of each has only %d positions", last)
	}
	again := h.reordered(order)
	n := Pos(0)
	eachPos(reflect.ValueOf(&again).Elem(), "History", func(p *Pos, where string) {
		if n++; *p != n+1_000 {
			t.Errorf("%s is %d, want %d", where, *p, n+1_000)
		}
	})
}

// eachPos visits every position in a value, in the order of its fields.
func eachPos(v reflect.Value, where string, visit func(p *Pos, where string)) {
	if p, ok := v.Addr().Interface().(*Pos); ok {
		visit(p, where)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			eachPos(v.Field(i), where+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachPos(v.Index(i), fmt.Sprintf("%s[%d]", where, i), visit)
		}
	}
}

func TestSpansThatDoNotFit(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(h *History)
		want   string
	}{
		"too few":      {func(h *History) { h.Within = h.Within[:5] }, "has no span"},
		"reversed":     {func(h *History) { h.Within[3].To = 0 }, "position 4 ends before it begins"},
		"out of order": {func(h *History) { h.Within[7] = Span{1, 2} }, "position 8 lies before position 7"},
		"far too early": {func(h *History) {
			h.Within[4].To, h.Within[5].To, h.Within[6] = time.Second, time.Second, Span{4000001, 4000002}
		}, "position 7 lies before position 6"},
	} {
		t.Run(name, func(t *testing.T) {
			h := handOver()
			h.Within = exact(12)
			tt.change(&h)
			if _, err := Judge(h, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want an error with %q", err, tt.want)
			}
		})
	}
}

// The label is unknown if and only if some order that the spans allow has
// another label: all orders are generated by brute force, from runs of
// neighbouring positions that are vague.
func TestUncertaintyAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	histories := tenthIfShort(1_500)
	var unknown, certain int
	for range histories {
		h := randomHandOvers(rng)
		base := judge(h, nil, MaxOperations)
		last := highest(h)
		h.Within = exact(int(last))
		groups := vagueGroups(rng, h, last)
		want := base.Label
		for _, order := range bruteOrders(groups) {
			other := h.reordered(order)
			if other.Validate() == nil && judge(other, nil, MaxOperations).Label != base.Label {
				want = Unknown
				break
			}
		}
		got, err := Judge(h, nil)
		if err != nil || got.Label != want {
			t.Fatalf("label %s, %v, want %s\ngroups %v\n%+v", got.Label, err, want, groups, h)
		}
		if want == Unknown {
			unknown++
		} else {
			certain++
		}
	}
	if min(unknown, certain) < histories/15 {
		t.Errorf("%d histories were undecided and %d were not: too few for a test", unknown, certain)
	}
}

// randomHandOvers is a lock that is granted to one client after the other, each
// of which reads and writes; some release before they write.
func randomHandOvers(rng *rand.Rand) History {
	h := History{Care: CareNever, Final: map[Cell]string{{Resource: "r"}: ""}}
	now, value := Pos(0), ""
	tick := func() Pos { now++; return now }
	for i := range 2 + rng.IntN(3) {
		h.Grants = append(h.Grants, Grant{ID: i + 1, Client: fmt.Sprintf("c%d", i), Resource: "r", Invoked: tick()})
	}
	h.Grants[0].Granted = tick()
	for i := range h.Grants {
		g := &h.Grants[i]
		r := Op{ID: g.Client + ".r", Client: g.Client, Grant: g.ID, Resource: "r", Kind: Read, Outcome: OutcomeOK,
			Accepted: true, Saw: value}
		r.Invoked, r.Applied, r.Returned = tick(), tick(), tick()
		w := Op{ID: g.Client + ".w", Client: g.Client, Grant: g.ID, Resource: "r", Kind: Write, Outcome: OutcomeOK,
			Accepted: true, Saw: value}
		late := rng.IntN(3) == 0
		if late {
			g.Released = tick()
		}
		w.Invoked, w.Applied, w.Returned = tick(), tick(), tick()
		if !late {
			g.Released = tick()
		}
		if i+1 < len(h.Grants) {
			h.Grants[i+1].Granted = tick()
		}
		g.ReleaseReturned = tick()
		value = w.ID
		h.Ops = append(h.Ops, r, w)
	}
	h.Final[Cell{Resource: "r"}] = value
	return h
}

func highest(h History) Pos {
	var last Pos
	h.positions(func(p *Pos) { last = max(last, *p) })
	return last
}

// vagueGroups makes some runs of two or three neighbouring positions vague.
func vagueGroups(rng *rand.Rand, h History, last Pos) [][]Pos {
	var groups [][]Pos
	for p := Pos(1); p < last && len(groups) < 3; p++ {
		if rng.IntN(4) > 0 {
			continue
		}
		n := min(2+Pos(rng.IntN(2)), last-p+1)
		var group []Pos
		for q := p; q < p+n; q++ {
			h.Within[q-1] = Span{h.Within[p-1].From, h.Within[p+n-2].To}
			group = append(group, q)
		}
		for q := p; q < p+n; q++ {
			h.Within[q-1] = Span{time.Duration(p) * time.Millisecond, time.Duration(p+n-1) * time.Millisecond}
		}
		groups = append(groups, group)
		p += n // a position between the groups, whose instant is known
	}
	return groups
}

// bruteOrders are all orders in which the positions of each group are permuted.
func bruteOrders(groups [][]Pos) []map[Pos]Pos {
	orders := []map[Pos]Pos{{}}
	for _, group := range groups {
		var more []map[Pos]Pos
		for _, perm := range permutations(group) {
			for _, order := range orders {
				next := map[Pos]Pos{}
				for p, q := range order {
					next[p] = q
				}
				for i, p := range group {
					next[p] = perm[i]
				}
				more = append(more, next)
			}
		}
		orders = more
	}
	return orders
}

func permutations(list []Pos) [][]Pos {
	if len(list) == 0 {
		return [][]Pos{nil}
	}
	var all [][]Pos
	for i, x := range list {
		rest := slices.Delete(slices.Clone(list), i, i+1)
		for _, p := range permutations(rest) {
			all = append(all, append([]Pos{x}, p...))
		}
	}
	return all
}

func ExampleHistory_within() {
	h := handOver()
	h.Within = exact(12)
	h.Within[5].To = h.Within[6].To // c0's release, and c1's grant
	v, _ := Judge(h, nil)
	fmt.Println(v.Label)
	// Output: unknown
}
