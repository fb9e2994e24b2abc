package sim

import (
	"math/rand/v2"
	"testing"
)

// TestDrawsAreIndependent shows that every part of a draw's name counts, also
// if two parts concatenate to the same text, and that equal names draw equal
// numbers.
func TestDrawsAreIndependent(t *testing.T) {
	one, other := chance(1), chance(2)
	names := []func() Draw{
		func() Draw { return one.draw("net") },
		func() Draw { return other.draw("net") },
		func() Draw { return one.draw("net").Str("") },
		func() Draw { return one.draw("net").Str("ab").Str("c") },
		func() Draw { return one.draw("net").Str("a").Str("bc") },
		func() Draw { return one.draw("net").Str("abc") },
		func() Draw { return one.draw("net").Num(0) },
		func() Draw { return one.draw("net").Num(1).Num(2) },
		func() Draw { return one.draw("net").Num(2).Num(1) },
		func() Draw { return one.draw("net").Num(-1) },
		func() Draw { return one.draw("faults") },
	}
	seen := map[uint64]int{}
	for i, name := range names {
		v := name().Value()
		if before, ok := seen[v]; ok {
			t.Errorf("names %d and %d draw the same", before, i)
		}
		seen[v] = i
		if v != name().Value() {
			t.Errorf("name %d draws differently the second time", i)
		}
	}
}

// TestDrawsAreUniform shows that draws of neighbouring names fill a range
// evenly, both ends included.
func TestDrawsAreUniform(t *testing.T) {
	one := chance(1)
	counts := map[int64]int{}
	const n = 60_000
	for i := range int64(n) {
		counts[one.draw("net").Num(i).Between(1, 6)]++
	}
	for face := range int64(8) {
		want := n / 6
		if face < 1 || face > 6 {
			want = 0
		}
		if got := counts[face]; got < want*95/100 || got > want*105/100 {
			t.Errorf("%d was drawn %d times of %d", face, got, n)
		}
	}
	if got := one.draw("net").Between(5, 5); got != 5 {
		t.Errorf("a range of one number gave %d", got)
	}
	if got := one.draw("net").Between(5, 4); got != 5 {
		t.Errorf("a reversed range gave %d, want its low end", got)
	}
}

// TestStreamsAreIndependent shows that generators of two names share no state:
// drawing from one does not advance the other.
func TestStreamsAreIndependent(t *testing.T) {
	one := chance(1)
	a, b := rand.New(one.stream("c0/x")), rand.New(one.stream("c0/y"))
	first := a.Uint64()
	if first == b.Uint64() {
		t.Error("two names gave the same number")
	}
	again := rand.New(one.stream("c0/x"))
	if again.Uint64() != first || again.Uint64() != a.Uint64() {
		t.Error("a name gave different numbers the second time")
	}
	var x, y, x2 [16]byte
	for name, into := range map[string]*[16]byte{"x": &x, "y": &y} {
		if _, err := one.entropy(name).Read(into[:]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := one.entropy("x").Read(x2[:]); err != nil || x == y || x != x2 {
		t.Errorf("entropy: x %x, y %x, x again %x, %v", x, y, x2, err)
	}
}

// TestStreamsFork shows that a generator made before a fork has the numbers of the new seed after it.
func TestStreamsFork(t *testing.T) {
	w := &World{chance: 1}
	s := w.stream("c0/x")
	if got, want := s.Uint64(), chance(1).stream("c0/x").Uint64(); got != want {
		t.Errorf("before the fork: got %d, want %d", got, want)
	}
	w.chance = 2
	if got, want := s.Uint64(), chance(2).stream("c0/x").Uint64(); got != want {
		t.Errorf("after the fork: got %d, want %d", got, want)
	}
}
