package checker

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
)

// A write belongs to the read before it under the same grant, if that read was answered before the write was called and
// no other write was in between.
func TestCellSections(t *testing.T) {
	a, b := held(1, "c0", 2, 90), held(2, "c1", 2, 90)
	for name, c := range map[string]struct {
		ops  []Op
		want []string // the ids of the reads and writes of the sections
	}{
		"a section": {[]Op{a.read("r", 10, ""), a.write("w", 20, "")}, []string{"r w"}},
		"two sections": {[]Op{a.read("r", 10, ""), a.write("w", 20, ""), a.read("s", 30, "w"),
			a.write("x", 40, "w")}, []string{"r w", "s x"}},
		"sections of two grants": {[]Op{a.read("r", 10, ""), b.read("s", 11, ""), a.write("w", 20, ""),
			b.write("x", 21, "")}, []string{"r w", "s x"}},
		"a write without a read": {[]Op{a.write("w", 10, "")}, []string{" w"}},
		"two writes after a read": {[]Op{a.read("r", 10, ""), a.write("w", 20, ""), a.write("x", 30, "w")},
			[]string{"r w", " x"}},
		"two reads before a write": {[]Op{a.read("r", 10, ""), a.read("s", 20, ""), a.write("w", 30, "")},
			[]string{"r ", "s w"}},
		"a read that was answered at once": {[]Op{a.read("r", 10, "").took(20), a.write("w", 20, "")}, []string{"r w"}},
		"a read that was answered late":    {[]Op{a.read("r", 10, "").took(21), a.write("w", 20, "")}, []string{"r ", " w"}},
		"a write after that": {[]Op{a.read("r", 10, "").took(21), a.write("w", 20, ""), a.write("x", 30, "w")},
			[]string{"r ", " w", " x"}},
		"a read that was refused":  {[]Op{a.read("r", 10, "").refused(), a.write("w", 20, "")}, []string{" w"}},
		"a write that was refused": {[]Op{a.read("r", 10, ""), a.write("w", 20, "").refused()}, []string{"r w"}},
	} {
		var got []string
		for _, s := range cellSections(c.ops) {
			read, write := "", ""
			if s.read != nil {
				read = s.read.ID
			}
			if s.write != nil {
				write = s.write.ID
			}
			got = append(got, read+" "+write)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Operations of one client are in one row, in their order, unless they overlap.
func TestInRows(t *testing.T) {
	op := func(client string, from, to int64) porcupine.Operation {
		return porcupine.Operation{Input: lockOp{client: client}, Call: from, Return: to}
	}
	placed, rows := inRows([]porcupine.Operation{
		op("c10", 1, 9), op("c2", 7, 8), op("c2", 1, 2), op("c2", 2, 4), op("c2", 5, 6), op("", 1, 2), op("c0", 3, 4),
	})
	var got []int
	for _, o := range placed {
		got = append(got, o.ClientId)
	}
	if want := []int{3, 1, 1, 2, 1, 4, 0}; rows != 5 || !slices.Equal(got, want) {
		t.Errorf("%d rows, %v, want 5 and %v", rows, got, want)
	}
}

// A picture has a row for each client, and knows the client of each operation, but for those of the queue and the reads
// at the end.
func TestActorOf(t *testing.T) {
	w := held(1, "c0", 2, 9).write("w", 4, "")
	for want, inputs := range map[string][]any{
		"c0": {unit{op: &w}, lockOp{client: "c0"}, tokenOp{Grant: held(1, "c0", 2, 9)}, sectionOp{writes: []*Op{&w}},
			sectionOp{writes: []*Op{&w, &w}}},
		"": {queueOp{does: "join", number: 1}, sectionOp{final: map[Cell]string{orders: "w"}}},
	} {
		for _, in := range inputs {
			if got := actorOf(in); got != want {
				t.Errorf("%+v is of %q, want %q", in, got, want)
			}
		}
	}
	for want, op := range map[string]queueOp{"grant 1: join": {"join", 1}, "attempt 1: leave": {"leave", -1},
		"attempt 2: join": {"join", -2}} {
		if op.String() != want {
			t.Errorf("%q, want %q", op, want)
		}
	}
}
