package placing

import (
	"slices"
	"testing"

	"locksim/faults"
)

// All pairs whose second placement is later exist once; a sample of them has no
// pair twice, and depends on its seed.
func TestPairs(t *testing.T) {
	pause, restart := make([]faults.Fault, 1), make([]faults.Fault, 2) // the crash, and the restart
	all := []Placement{
		{target: "r0", at: 10, faults: restart}, {target: "c0", at: 5, faults: pause}, {target: "c1", at: 10, faults: pause},
		{target: "r0", at: 12, faults: restart}, {target: "r1", at: 13, faults: restart},
		{target: "r0", at: 30, faults: restart},
	}
	p := NewPairs(all, 5)
	var got []string
	for _, k := range p.Sample(100, 1) {
		first, second, ok := p.Pair(k)
		if !ok || second.at <= first.at {
			t.Errorf("%v and %v are no pair", first, second)
		}
		got = append(got, first.target+second.target)
	}
	// 5 with all others, both of 10 with 12, 13 and 30, but r0 with itself; 12 with 13 and 30; 13 with 30.
	if len(got) != 13 || p.Count() != 13 {
		t.Errorf("%d pairs, count says %d, want 13: %v", len(got), p.Count(), got)
	}
	one, two, other := p.Sample(4, 1), p.Sample(4, 1), p.Sample(4, 2)
	if !slices.Equal(one, two) || slices.Equal(one, other) || len(slices.Compact(slices.Sorted(slices.Values(one)))) != 4 {
		t.Errorf("samples: %v, again %v, of another seed %v", one, two, other)
	}
	if n := NewPairs(nil, 5).Count(); n != 0 {
		t.Errorf("%d pairs without placements", n)
	}
}
