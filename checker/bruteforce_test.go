package checker

import (
	"math/rand/v2"
	"testing"
)

// tenthIfShort is a number of histories: a tenth of n with the flag -short, which
// goes with the slow race detector.
func tenthIfShort(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// naive is a section or a single operation by the definition. It is built and
// searched without code of the checker.
type naive struct {
	from, to  Pos
	saw, puts string // puts is "" for a read
	optional  bool
}

// naiveUnits applies the definition literally, operation by operation.
func naiveUnits(h History, c Cell) []naive {
	var all []naive
	for _, o := range h.Ops {
		if (Cell{o.Resource, o.Register}) != c {
			continue
		}
		switch {
		case o.Kind == Write && o.Outcome == OutcomeOK:
			all = append(all, naive{from: sectionStart(h, o), to: o.Returned, saw: o.Saw, puts: o.ID})
		case o.Kind == Write && o.Outcome == OutcomeUnknown:
			all = append(all, naive{from: o.Invoked, to: 1 << 40, saw: o.Saw, puts: o.ID, optional: true})
		case o.Kind == Read && o.Outcome == OutcomeOK && !closedByWrite(h, o):
			all = append(all, naive{from: o.Invoked, to: o.Returned, saw: o.Saw})
		}
	}
	return all
}

// sectionOf finds the read that write w belongs to: the latest before it under
// its grant in its cell, unless another write lies between.
func sectionOf(h History, w Op) (read Op, found bool) {
	for _, o := range h.Ops {
		same := o.Grant == w.Grant && o.Register == w.Register && o.ID != w.ID && o.Invoked < w.Invoked
		if same && o.Invoked > read.Invoked {
			read = o
		}
	}
	return read, read.Kind == Read && read.Outcome == OutcomeOK
}

func sectionStart(h History, w Op) Pos {
	if r, found := sectionOf(h, w); found {
		return r.Invoked
	}
	return w.Invoked
}

func closedByWrite(h History, r Op) bool {
	for _, w := range h.Ops {
		if w.Kind == Write && w.Outcome == OutcomeOK {
			if of, found := sectionOf(h, w); found && of.ID == r.ID {
				return true
			}
		}
	}
	return false
}

// orderExists tries all orders of the units, with and without each optional one.
func orderExists(left []naive, state, final string) bool {
	done := state == final
	for _, u := range left {
		done = done && u.optional
	}
	if done {
		return true
	}
	for i, u := range left {
		rest := append(append([]naive(nil), left[:i]...), left[i+1:]...)
		if u.optional && orderExists(rest, state, final) {
			return true // it had no effect
		}
		if u.saw != state || !mayComeFirst(u, rest) {
			continue
		}
		next := state
		if u.puts != "" {
			next = u.puts
		}
		if orderExists(rest, next, final) {
			return true
		}
	}
	return false
}

func mayComeFirst(u naive, others []naive) bool {
	for _, o := range others {
		if o.to < u.from {
			return false
		}
	}
	return true
}

// The exact check, a search over all orders, and porcupine must agree on 10,000
// small histories, with enough of each verdict.
func TestDataAgainstBruteForce(t *testing.T) {
	histories := tenthIfShort(5_000)
	corrupted, unknown, untimely, observed := 0, 0, 0, 0
	for seed := range uint64(histories) {
		h := randomHistory(rand.New(rand.NewPCG(seed, 6)))
		v := mustJudge(t, h, nil)
		right := true
		for c, final := range h.Final {
			right = right && orderExists(naiveUnits(h, c), "", final)
		}
		if right != (v.Facts.Data == DataRight) {
			t.Fatalf("seed %d: %s, but the search says right = %t\n%q\n%+v", seed, v.Facts.Data, right, texts(v.Reasons), h)
		}
		second, err := Corroborate(h, v.Facts)
		if err != nil || second.Agreement != Agrees {
			t.Fatalf("seed %d: %+v, %v\n%+v", seed, second, err, h)
		}
		some, seen := unknownWrites(h)
		count(&corrupted, !right)
		count(&unknown, some)
		count(&observed, seen && right)
		count(&untimely, !right && v.Facts.LostUpdates == 0)
	}
	t.Logf("of %d: corrupted %d, with unknown outcomes %d, right with an observed one %d, corrupted without a lost "+
		"update %d",
		histories, corrupted, unknown, observed, untimely)
	if least := min(corrupted, histories-corrupted, unknown, histories-unknown, untimely, observed); least < histories/10 {
		t.Errorf("the generator is unbalanced: some kind is only %d of %d", least, histories)
	}
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}

// unknownWrites reports whether there are writes of unknown outcome, and
// whether one of them was observed.
func unknownWrites(h History) (some, observed bool) {
	saw := make(map[string]bool)
	for _, o := range h.Ops {
		saw[o.Saw] = true
	}
	for c := range h.Final {
		saw[h.Final[c]] = true
	}
	for _, o := range h.Ops {
		if o.Kind == Write && o.Outcome == OutcomeUnknown {
			some, observed = true, observed || saw[o.ID]
		}
	}
	return some, observed
}
