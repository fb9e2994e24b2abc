package scenarios

import (
	"flag"
	"slices"
	"testing"

	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
)

// Fuzz is [Check] for go test -fuzz: the fuzzer draws the schedules, and prefers
// those that reach new code of the lock and of the world. Options.Runs and
// Options.Seed are ignored. Without -fuzz the inputs of the corpus are played:
// those that Fuzz adds, and those in testdata/fuzz.
func Fuzz(f *testing.F, l Lock, opts Options) {
	f.Helper()
	c := newCheckup(f, l, opts)
	if c.playAlone() {
		f.SkipNow()
	}
	if !fuzzWorker() {
		c.tryStored()
	}
	c.discover()
	for seed := range uint64(8) {
		f.Add(seed, tapeOf(seed, c.space))
	}
	f.Fuzz(func(t *testing.T, seed uint64, choices []byte) {
		if c.failure != "" {
			// The fuzzer shrinks its input; the schedule is minimal already.
			t.Skip("another input has failed")
		}
		one := *c
		one.t = t
		one.try(slices.Values([]search.Case{{Scenario: search.Draw(&byteTape{rest: choices}, c.space), Seed: seed}}))
		if c.failure = one.failure; c.failure != "" {
			t.Fatal(c.failure)
		}
	})
}

// fuzzWorker reports whether this process is one of the workers of the fuzzer.
func fuzzWorker() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// byteTape takes choices from bytes, and the simplest when none are left.
type byteTape struct{ rest []byte }

func (t *byteTape) Below(n int) int {
	v := 0
	for room := n - 1; room > 0; room >>= 8 {
		v <<= 8
		if len(t.rest) > 0 {
			v |= int(t.rest[0])
			t.rest = t.rest[1:]
		}
	}
	return v % n
}

// tapeWriter writes choices for a byteTape.
type tapeWriter struct {
	from spaces.Choices
	made []byte
}

func (r *tapeWriter) Below(n int) int {
	v := r.from.Below(n)
	bytes := 0
	for room := n - 1; room > 0; room >>= 8 {
		bytes++
	}
	for i := bytes - 1; i >= 0; i-- {
		r.made = append(r.made, byte(v>>(8*i)))
	}
	return v
}

// tapeOf is the tape of the choices that a seed makes.
func tapeOf(seed uint64, space Space) []byte {
	r := &tapeWriter{from: spaces.Seeded(seed)}
	search.Draw(r, space)
	return r.made
}
