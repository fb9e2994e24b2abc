package checker

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// fills is a history of values that are filled, of one cell.
func fills(final string, grants []Grant, ops ...Op) History {
	h := story(final, grants, ops...)
	h.Fill = true
	return h
}

func TestRepeatedWork(t *testing.T) {
	a, b := held(1, "c0", 2, 40), held(2, "c1", 50, 90)
	early := held(2, "c1", 20, 60) // while c0 has its claim
	both := func(a, b Grant) []Grant { return []Grant{a, b} }
	filled := []Op{a.read("a.r", 4, ""), a.write("a.w", 30, "")}
	for _, c := range []struct {
		name         string
		h            History
		again, twice int
		label        Label
		says         string
	}{
		{"computed once, found by the second look", fills("a.w", both(a, b), append(filled, b.read("b.r", 52, "a.w"))...), 0,
			0, Safe, "Nothing went wrong"},
		{"claims overlap, and both compute",
			fills("b.w", both(a, early), append(filled, early.read("b.r", 22, ""), early.write("b.w", 52, ""))...),
			1, 1, Repeated, "c1 computed orders (c1's write b.w (step 53)) although c0, which computed it too (c0's write a.w " +
				"(step 31)), had a claim from step 2 on"},
		{"claims overlap, and one computes", fills("a.w", both(a, early), append(filled, early.read("b.r", 42, "a.w"))...), 0,
			0, Overlap, "c1 was granted"},
		{"the write was never sent",
			fills("a.w", both(a, early), append(filled, early.read("b.r", 22, ""),
				early.write("b.w", 52, "").ended(OutcomeNotSent))...), 0, 0, Overlap, ""},
		{"the store refused the second write",
			fills("a.w", both(a, early), append(filled, early.read("b.r", 22, ""), early.write("b.w", 35, "").refused())...), 1,
			1, Repeated, ""},
		{"the validity of the first had ended", fills("b.w", both(a.until(10, 0), early),
			append(filled, early.read("b.r", 22, ""), early.write("b.w", 52, ""))...),
			1, 0, Repeated, "The work for orders was done again: c1's write b.w (step 53) came after c0's write a.w (step " +
				"31). The claim of c0 had ended at step 10, when its validity ended"},
		{"the first had been told of its loss", fills("b.w", both(a.lost(10, 0), early),
			append(filled, early.read("b.r", 22, ""), early.write("b.w", 52, ""))...), 1, 0, Repeated, ""},
		{"the lease of the second was over on arrival", fills("b.w", both(a, early.until(20, 0)),
			append(filled, early.read("b.r", 22, ""), early.write("b.w", 52, ""))...),
			1, 0, Repeated, "The work for orders was done again: c1's write b.w (step 53) came after c0's write a.w (step " +
				"31). The lease of c1 was over"},
		{"the first write had failed before", fills("b.w", both(a, early), a.read("a.r", 4, ""),
			a.write("a.w", 10, "").ended(OutcomeFailed), early.read("b.r", 22, ""), early.write("b.w", 52, "")),
			1, 0, Repeated, "The work for orders was done again: c1's write b.w (step 53) came after c0's write a.w (step " +
				"10). The outcome of the first write was \"failed\"."},
		{"the first write failed afterwards", fills("b.w", both(a, early), a.read("a.r", 4, ""),
			a.write("a.w", 30, "").ended(OutcomeFailed), early.read("b.r", 22, ""), early.write("b.w", 52, "")),
			1, 1, Repeated, ""},
		{"the first write failed and did not return", fills("b.w", both(a, early), a.read("a.r", 4, ""),
			a.write("a.w", 10, "").ended(OutcomeFailed).took(0), early.read("b.r", 22, ""), early.write("b.w", 52, "")),
			1, 1, Repeated, ""},
		{"it is not known what became of the first write", fills("b.w", both(a, early), a.read("a.r", 4, ""),
			a.write("a.w", 30, "").unanswered(0), early.read("b.r", 22, ""), early.write("b.w", 52, "")),
			1, 0, Repeated, ""},
		{"it was there, and the client did not look", fills("b.w", both(a, b), append(filled, b.write("b.w", 80, ""))...),
			1, 0, Repeated, "The work for orders was done again: c1's write b.w (step 81) came after c0's write a.w (step " +
				"31). c1 had not looked for the value after its grant at step 50."},
		{"it was there, and the client computed it all the same",
			fills("b.w", both(a, b), append(filled, b.read("b.r", 52, "a.w"), b.write("b.w", 80, "a.w"))...),
			1, 1, Repeated, "c1 computed orders (c1's write b.w (step 81)) although c0's write a.w (step 31) had been " +
				"acknowledged at step 32, before the lock was granted at step 50"},
		{"it was there, and the client saw nothing",
			fills("b.w", both(a, b), append(filled, b.read("b.r", 52, ""), b.write("b.w", 80, ""))...), 1, 1, Corrupted,
			"c1's read b.r (step 53) of orders found no value, although"},
		{"it came after the grant", fills("b.w", both(a.until(10, 0), early), a.read("a.r", 4, ""), a.write("a.w", 30, ""),
			early.read("b.r", 42, "a.w"), early.write("b.w", 52, "a.w")), 1, 0, Repeated, ""},
		{"another value", fillsOf(map[Cell]string{orders: "a.w", {"orders", "x"}: "b.w"}, both(a, early),
			append(filled, early.read("b.r", 22, "").in("x"), early.write("b.w", 52, "").in("x"))...),
			0, 0, Overlap, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, nil)
			if f := v.Facts; f.Recomputed != c.again || f.WorkTwice != c.twice || v.Label != c.label {
				t.Errorf("recomputed %d, work twice %d, %s; want %d, %d, %s\n%q", f.Recomputed, f.WorkTwice, v.Label, c.again,
					c.twice, c.label, texts(v.Reasons))
			}
			if !strings.HasPrefix(v.Reasons[0].Text, c.says) {
				t.Errorf("first reason %q\nwant %q", v.Reasons[0].Text, c.says)
			}
			if second, err := Corroborate(c.h, v.Facts); err != nil || second.Agreement != Agrees {
				t.Errorf("second opinion: %+v, %v", second, err)
			}
			c.h.Fill = false
			if f := mustJudge(t, c.h, nil).Facts; f.Recomputed+f.WorkTwice > 0 {
				t.Errorf("in a register, recomputed %d, work twice %d", f.Recomputed, f.WorkTwice)
			}
		})
	}
}

func fillsOf(final map[Cell]string, grants []Grant, ops ...Op) History {
	h := fills("", grants, ops...)
	h.Final = final
	return h
}

// A reentrant lock lets its holder in again: the work that is done twice then is its own.
func TestRepeatedWorkOfAReentrantLock(t *testing.T) {
	a, b := held(1, "c0", 2, 60), held(2, "c0", 20, 50)
	h := fills("a.w", []Grant{a, b}, a.read("a.r", 4, ""), b.read("b.r", 22, ""), b.write("b.w", 30, ""),
		a.write("a.w", 54, ""))
	for entry, want := range map[Entry]int{EntryReentrant: 0, EntryExclusive: 1} {
		h.Entry = entry
		if f := mustJudge(t, h, nil).Facts; f.WorkTwice != want || f.Recomputed != 1 {
			t.Errorf("%s: recomputed %d, work twice %d, want 1, %d", entry, f.Recomputed, f.WorkTwice, want)
		}
	}
}

func TestFilledData(t *testing.T) {
	a, b, both := together()
	for _, c := range []struct {
		name  string
		final string
		ops   []Op
		data  Data
		lost  int
	}{
		{"overwritten", "b.w", []Op{a.write("a.w", 10, ""), b.write("b.w", 20, "")}, DataRight, 0},
		{"overwritten, and the first is found later", "b.w", []Op{a.write("a.w", 10, ""), b.write("b.w", 20, ""),
			b.read("b.r", 30, "a.w")}, DataRight, 0},
		{"nothing in the end", "", []Op{a.write("a.w", 10, ""), b.write("b.w", 20, "")}, DataCorrupted, 2},
		{"nothing in the end, by a write without an answer", "", []Op{a.write("a.w", 10, "").unanswered(0)}, DataRight, 0},
		{"there in the end, by a write without an answer", "a.w", []Op{a.write("a.w", 10, "").unanswered(0)}, DataRight, 0},
		{"there in the end, by a write that was refused", "a.w", []Op{a.write("a.w", 10, "").refused()}, DataCorrupted, 0},
		{"found, and nothing in the end", "", []Op{a.write("a.w", 10, "").unanswered(11), b.read("b.r", 20, "a.w")},
			DataCorrupted, 0},
		{"nothing found after a write", "a.w", []Op{a.write("a.w", 10, ""), b.read("b.r", 20, "")}, DataCorrupted, 0},
		{"nothing found during a write", "a.w", []Op{a.write("a.w", 10, "").took(30), b.read("b.r", 20, "")}, DataRight, 0},
		{"nothing found after it was found", "a.w", []Op{a.write("a.w", 10, "").unanswered(11), a.read("a.r", 20, "a.w"),
			b.read("b.r", 30, "")}, DataCorrupted, 0},
		{"found before it was written", "a.w", []Op{b.read("b.r", 10, "a.w"), a.write("a.w", 20, "")}, DataCorrupted, 0},
		{"found what no client wrote", "a.w", []Op{a.write("a.w", 10, ""), b.read("b.r", 20, "c.w")}, DataCorrupted, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fills(c.final, both, c.ops...)
			v := mustJudge(t, h, nil)
			if v.Facts.Data != c.data || v.Facts.LostUpdates != c.lost {
				t.Errorf("data %s, lost updates %d; want %s, %d\n%q", v.Facts.Data, v.Facts.LostUpdates, c.data, c.lost,
					texts(v.Reasons))
			}
			if c.data == DataCorrupted && (v.Label != Corrupted || !strings.Contains(v.Reasons[0].Text, "orders")) {
				t.Errorf("%s: %q", v.Label, v.Reasons[0].Text)
			}
			for _, r := range v.Reasons { // the read that found nothing, and the return before it
				if strings.Contains(r.Text, "found no value") && (len(r.At) != 2 || r.At[0] <= r.At[1]) {
					t.Errorf("%q points to %v", r.Text, r.At)
				}
			}
			if second, err := Corroborate(h, v.Facts); err != nil || second.Agreement != Agrees {
				t.Errorf("second opinion: %+v, %v", second, err)
			}
		})
	}
}

// The search of porcupine has the same opinion of the data of random histories, with enough of each.
func TestFilledDataAgainstSearch(t *testing.T) {
	valid, corrupted, found := 0, 0, 0
	for seed := range uint64(tenthIfShort(10_000)) {
		h := randomHistory(rand.New(rand.NewPCG(seed, 11)))
		if h.Fill = true; h.Validate() != nil {
			continue // a grant that writes a cell twice
		}
		valid++
		v := mustJudge(t, h, nil)
		second, err := Corroborate(h, v.Facts)
		if err != nil || second.Agreement != Agrees {
			t.Fatalf("seed %d: %+v, %v\n%q\n%+v", seed, second, err, texts(v.Reasons), h)
		}
		count(&corrupted, v.Facts.Data == DataCorrupted)
		count(&found, v.Facts.Data == DataRight && v.Facts.Recomputed > 0)
	}
	t.Logf("of %d: corrupted %d, right with repeated work %d", valid, corrupted, found)
	if min(corrupted, valid-corrupted, found) < valid/10 || valid < tenthIfShort(10_000)/2 {
		t.Errorf("the generator is unbalanced: of %d, corrupted %d, right with repeated work %d", valid, corrupted, found)
	}
}
