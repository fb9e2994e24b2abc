package fence_test

import (
	"errors"
	"testing"

	"locksim/lock/fence"
)

const clients = 3

// initial is the value of the register before anybody wrote, which no client has.
const initial = -1

// TestEnumeration counts what each rule leaves wrong over every interleaving of three clients that
// each read the register once and then write it once. It is DESIGN section 4's table, and the one in
// the package doc.
func TestEnumeration(t *testing.T) {
	all := interleavings()
	if len(all) != 90 {
		t.Fatalf("%d interleavings of 3 clients with 2 steps each, want 6!/2!^3 = 90", len(all))
	}
	for _, tc := range []struct {
		tokens string
		mint   func(nth int) uint64 // the token of the client that is the nth to read, from 0
		wrong  map[fence.Mode]int
	}{
		{"increasing", func(nth int) uint64 { return uint64(1 + nth) },
			map[fence.Mode]int{fence.None: 84, fence.Check: 42, fence.Seal: 0}},
		{"inverted", func(nth int) uint64 { return uint64(clients - nth) },
			map[fence.Mode]int{fence.None: 84, fence.Check: 42, fence.Seal: 0}},
		{"duplicate", func(int) uint64 { return 7 },
			map[fence.Mode]int{fence.None: 84, fence.Check: 84, fence.Seal: 84}},
	} {
		for _, mode := range fence.Modes() {
			wrong := 0
			for _, steps := range all {
				if play(t, mode, steps, tc.mint).lostWrites() > 0 {
					wrong++
				}
			}
			if wrong != tc.wrong[mode] {
				t.Errorf("%s tokens, mode %s: %d of 90 wrong, want %d", tc.tokens, mode, wrong, tc.wrong[mode])
			}
		}
	}
}

// TestSealKeepsSomebody makes sure that seal is not right for having refused everybody: with
// increasing tokens the last client to read is never refused, whatever the interleaving.
func TestSealKeepsSomebody(t *testing.T) {
	for _, steps := range interleavings() {
		run := play(t, fence.Seal, steps, func(nth int) uint64 { return uint64(1 + nth) })
		if !run.accepted[run.lastReader] {
			t.Errorf("steps %v: the newest holder, c%d, was refused", steps, run.lastReader)
		}
	}
}

// interleavings returns every order of the clients' steps. Each client occurs twice: it reads, then writes.
func interleavings() [][]int {
	var all [][]int
	var left [clients]int
	for c := range left {
		left[c] = 2
	}
	var extend func(prefix []int)
	extend = func(prefix []int) {
		if len(prefix) == 2*clients {
			all = append(all, append([]int(nil), prefix...))
			return
		}
		for c := range left {
			if left[c] > 0 {
				left[c]--
				extend(append(prefix, c))
				left[c]++
			}
		}
	}
	extend(nil)
	return all
}

// history is what happened to one register. A value is the number of the client that wrote it.
type history struct {
	final      int
	saw        [clients]int  // the value that the client's read returned
	accepted   [clients]bool // whether its write was accepted
	lastReader int
}

// lostWrites counts the accepted writes that are not on the reads-from path back from the final value.
func (h history) lostWrites() int {
	lost := 0
	for _, ok := range h.accepted {
		if ok {
			lost++
		}
	}
	for v := h.final; v != initial; v = h.saw[v] {
		lost--
	}
	return lost
}

// play runs the steps under a rule. A client whose read is refused does not write.
func play(t *testing.T, mode fence.Mode, steps []int, mint func(nth int) uint64) history {
	t.Helper()
	var (
		state   fence.State
		tokens  [clients]uint64
		may     [clients]bool // has read and was not refused
		readers int
	)
	h := history{final: initial}
	for _, c := range steps {
		var err error
		if tokens[c] == 0 {
			tokens[c] = mint(readers)
			readers++
			h.lastReader = c
			if state, err = mode.Read(state, tokens[c]); err == nil {
				h.saw[c], may[c] = h.final, true
			}
		} else if may[c] {
			if state, err = mode.Write(state, tokens[c]); err == nil {
				h.final, h.accepted[c] = c, true
			}
		}
		if err != nil && !errors.Is(err, fence.ErrStale) {
			t.Fatal(err)
		}
	}
	return h
}
