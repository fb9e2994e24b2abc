package play

import (
	"testing"

	"pgregory.net/rapid"

	"locksim/lock"
)

// pauses is a space in which single goes wrong now and then.
var pauses = Space{Lock: "single", Faults: []lock.Fault{lock.FaultPause}}

// drawnTexts are the first scenarios of a search, which learns from those that
// are played: all, or none.
func drawnTexts(t *testing.T, s *Search, n int, learns bool) []string {
	t.Helper()
	l, err := Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for range n {
		sc, seed := s.Next()
		source, err := Format(sc)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(source))
		if !learns {
			continue
		}
		o, _, err := l.Try(sc, seed)
		if err != nil {
			t.Fatal(err)
		}
		s.Learn(o)
	}
	return out
}

func sameTexts(a, b []string) int {
	n := 0
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// A search depends on its first seed and, when it is guided, on what it has
// learned: about half of its scenarios are made from others then.
func TestSearchIsDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	const n = 60
	plain := drawnTexts(t, NewSearch(pauses, 7, false), n, false)
	if same := sameTexts(plain, drawnTexts(t, NewSearch(pauses, 7, false), n, true)); same != n {
		t.Errorf("a plain search that was told of its runs draws %d of %d scenarios as before", same, n)
	}
	guided := drawnTexts(t, NewSearch(pauses, 7, true), n, true)
	if same := sameTexts(guided, drawnTexts(t, NewSearch(pauses, 7, true), n, true)); same != n {
		t.Errorf("the same guided search draws %d of %d scenarios as before", same, n)
	}
	if same := sameTexts(plain, guided); same < n/4 || same > 3*n/4 {
		t.Errorf("%d of %d scenarios of a guided search are fresh, want about half", same, n)
	}
	if same := sameTexts(plain, drawnTexts(t, NewSearch(pauses, 7, true), n, false)); same != n {
		t.Errorf("a guided search that has learned nothing draws %d of %d scenarios as a plain one", same, n)
	}
}

// A search that starts later goes on with the same seeds.
func TestSearchGoesBySeeds(t *testing.T) {
	from7 := drawnTexts(t, NewSearch(pauses, 7, false), 5, false)
	from9 := drawnTexts(t, NewSearch(pauses, 9, false), 3, false)
	if sameTexts(from7[2:], from9) != 3 {
		t.Error("the third scenario from seed 7 is not the first from seed 9")
	}
}

// Without an outcome, or twice for one scenario, there is nothing to learn.
func TestSearchLearnsOnce(t *testing.T) {
	s := NewSearch(pauses, 1, true)
	s.Learn(nil)
	sc, seed := s.Next()
	l, _ := Kind("single")
	o, _, err := l.Try(sc, seed)
	if err != nil {
		t.Fatal(err)
	}
	s.Learn(o)
	s.Learn(o)
	if n := len(s.guide.corpus); n > 1 {
		t.Errorf("%d scenarios are kept of one", n)
	}
}

// Choices that were kept draw the same scenario again, and whatever is changed
// in them draws one that is valid.
func TestKeptChoices(t *testing.T) {
	all := spaces(t)
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom(all).Draw(t, "space")
		seed := rapid.Uint64().Draw(t, "seed")
		kept := &recorder{from: Seeded(seed)}
		first := Draw(kept, space)
		again := Draw(&replayed{append([]int{}, kept.made...), simplest{}}, space)
		a, errA := Format(first)
		b, errB := Format(again)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Fatalf("%v %v\n%s\nthen\n%s", errA, errB, a, b)
		}
		g := newGuide(seed)
		made := kept.made
		for range 20 {
			made = g.mutate(made)
		}
		changed := Draw(&replayed{made, Seeded(seed)}, space)
		if err := changed.Validate(); err != nil {
			t.Fatal(err)
		}
		stays(t, changed, space)
	})
}
