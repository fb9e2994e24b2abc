package checker

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// naiveSection is a section by the definition: the values that it read and
// wrote in each register, at one instant. Each grant has one. It is built and
// searched without code of the checker.
type naiveSection struct {
	from, to Pos
	saw      [][2]string // register, value
	puts     map[string]string
	optional bool // no effect of it was acknowledged
	cut      bool // it cannot have had an effect as a whole
}

func naiveSections(h History) []naiveSection {
	var all []naiveSection
	for _, g := range h.Grants {
		s := naiveSection{puts: make(map[string]string), optional: true, from: 1 << 40}
		for _, o := range h.Ops {
			if o.Grant != g.ID {
				continue
			}
			s.from, s.to = min(s.from, o.Invoked), max(s.to, o.Returned)
			if o.Outcome == OutcomeOK || o.Kind == Write {
				s.saw = append(s.saw, [2]string{o.Register, o.Saw})
			}
			if o.Kind == Write {
				s.puts[o.Register] = o.ID
				s.optional = s.optional && o.Outcome != OutcomeOK
				s.cut = s.cut || o.Outcome != OutcomeOK && o.Outcome != OutcomeUnknown
				if o.Outcome == OutcomeUnknown {
					s.to = 1 << 40
				}
			}
		}
		s.cut = s.cut || len(s.puts) < 2
		if !s.optional || !s.cut {
			all = append(all, s)
		}
	}
	return all
}

// sectionOrderExists tries all orders of the sections.
func sectionOrderExists(left []naiveSection, state, final map[string]string) bool {
	done := maps.Equal(state, final)
	for _, s := range left {
		done = done && s.optional
	}
	if done {
		return true
	}
	for i, s := range left {
		rest := append(append([]naiveSection(nil), left[:i]...), left[i+1:]...)
		if s.optional && sectionOrderExists(rest, state, final) {
			return true
		}
		possible := !s.cut
		for _, o := range rest {
			possible = possible && o.to >= s.from
		}
		for _, saw := range s.saw {
			possible = possible && state[saw[0]] == saw[1]
		}
		if !possible {
			continue
		}
		next := maps.Clone(state)
		maps.Copy(next, s.puts)
		if sectionOrderExists(rest, next, final) {
			return true
		}
	}
	return false
}

// naiveTorn counts the sections of which one write can be traced back from the
// final value, and another cannot. right says that all walks ended.
func naiveTorn(h History) (torn int, right bool) {
	kept, right := make(map[string]bool), true
	for c, id := range h.Final {
		for id != "" {
			var by *Op
			for i := range h.Ops {
				o := &h.Ops[i]
				if o.ID == id && o.Kind == Write && o.Register == c.Register &&
					(o.Outcome == OutcomeOK || o.Outcome == OutcomeUnknown) {
					by = o
				}
			}
			if by == nil || kept[id] {
				return 0, false
			}
			kept[id] = true
			id = by.Saw
		}
	}
	for _, g := range h.Grants {
		there := 0
		for _, o := range h.Ops {
			if o.Grant == g.ID && kept[o.ID] {
				there++
			}
		}
		if there == 1 {
			torn++
		}
	}
	return torn, right
}

// The exact check, a search over all orders of sections, and porcupine must
// agree on small histories of transfers, with enough of each verdict.
func TestSectionsAgainstBruteForce(t *testing.T) {
	histories := tenthIfShort(5_000)
	var corrupted, torn, both, tangled, unknown int
	for seed := range uint64(histories) {
		h := randomTransfers(rand.New(rand.NewPCG(seed, 11)))
		v := mustJudge(t, h, nil)
		cells := true
		final := make(map[string]string)
		for c, id := range h.Final {
			cells = cells && orderExists(naiveUnits(h, c), "", id)
			if id != "" {
				final[c.Register] = id
			}
		}
		right := cells && sectionOrderExists(naiveSections(h), map[string]string{}, final)
		if right != (v.Facts.Data == DataRight) {
			t.Fatalf("seed %d: %s, but the search says right = %t\n%q\n%+v", seed, v.Facts.Data, right, texts(v.Reasons), h)
		}
		if want, walked := naiveTorn(h); walked && v.Facts.TornSections != want {
			t.Fatalf("seed %d: torn %d, want %d\n%q\n%+v", seed, v.Facts.TornSections, want, texts(v.Reasons), h)
		}
		if second := corroborate(t, h, v.Facts); second.Agreement != Agrees {
			t.Fatalf("seed %d: %+v\n%+v", seed, second, h)
		}
		some, _ := unknownWrites(h)
		count(&corrupted, !right)
		count(&torn, v.Facts.TornSections > 0)
		count(&both, v.Facts.TornSections > 0 && v.Facts.LostUpdates > 0)
		count(&tangled, cells && !right && v.Facts.TornSections == 0)
		count(&unknown, some && right)
	}
	t.Logf("of %d: corrupted %d, torn %d, torn and lost %d, right register by register only %d, right with an unknown "+
		"outcome %d",
		histories, corrupted, torn, both, tangled, unknown)
	if least := min(corrupted, histories-corrupted, torn, both, 2*unknown, 10*tangled); least < histories/20 {
		t.Errorf("the generator is unbalanced: some kind is only %d of %d", least, histories)
	}
}
