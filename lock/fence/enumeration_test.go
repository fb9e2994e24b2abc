package fence_test

import (
	"errors"
	"testing"

	"locksim/lock/fence"
)

const clients = 3

// initial is the value of the register before the first write. It is not the number of a client.
const initial = -1

// tokenSource returns the token of the client that is the nth to read, from 0.
type tokenSource func(nth int) uint64

func increasing(nth int) uint64 { return uint64(1 + nth) }
func inverted(nth int) uint64   { return uint64(clients - nth) }
func duplicate(int) uint64      { return 7 }

// TestEnumeration counts, over every interleaving of three clients that each read the register once and then write it
// once, the interleavings after which a rule leaves the data wrong, and the accepted writes. These are the numbers of
// the table in section 4 of DESIGN, and of those in the package doc.
func TestEnumeration(t *testing.T) {
	all := interleavings()
	if len(all) != 90 {
		t.Fatalf("%d interleavings of 3 clients with 2 steps each, want 6!/2!^3 = 90", len(all))
	}
	type count struct{ wrong, accepted int }
	for _, tc := range []struct {
		tokens string
		mint   tokenSource
		want   []count // for each of fence.Modes
	}{
		{"increasing", increasing, []count{{84, 270}, {42, 198}, {0, 138}, {0, 138}, {0, 138}, {0, 150}}},
		{"inverted", inverted, []count{{84, 270}, {42, 138}, {0, 90}, {0, 90}, {0, 138}, {0, 150}}},
		{"duplicate", duplicate, []count{{84, 270}, {84, 270}, {84, 270}, {0, 90}, {0, 138}, {0, 150}}},
	} {
		for i, mode := range fence.Modes() {
			var got count
			for _, steps := range all {
				h := execute(t, mode, steps, tc.mint)
				got.accepted += h.writes()
				if h.lostWrites() > 0 {
					got.wrong++
				}
			}
			if got != tc.want[i] {
				t.Errorf("%s tokens, mode %s: %+v, want %+v", tc.tokens, mode, got, tc.want[i])
			}
		}
	}
}

// TestOneClientIsNeverRefused checks that no rule is safe because it refuses every client: for each rule it names a
// client that is not refused in any interleaving.
func TestOneClientIsNeverRefused(t *testing.T) {
	lastReader := func(h history) int { return h.readers[clients-1] }
	firstReader := func(h history) int { return h.readers[0] }
	firstWriter := func(h history) int { return h.firstWriter }
	for _, tc := range []struct {
		mode   fence.Mode
		mint   tokenSource
		who    string
		chosen func(history) int
	}{
		{fence.Seal, increasing, "the newest holder", lastReader},
		{fence.Seal, inverted, "the holder of the highest token", firstReader},
		{fence.Strict, increasing, "the newest holder", lastReader},
		{fence.Strict, inverted, "the holder of the highest token", firstReader},
		{fence.Strict, duplicate, "the first to send the token", firstReader},
		{fence.Claim, increasing, "the last to read", lastReader},
		{fence.Claim, inverted, "the last to read", lastReader},
		{fence.Claim, duplicate, "the last to read", lastReader},
		{fence.CAS, duplicate, "the first to write", firstWriter},
	} {
		for _, steps := range interleavings() {
			h := execute(t, tc.mode, steps, tc.mint)
			if c := tc.chosen(h); !h.accepted[c] {
				t.Errorf("mode %s, steps %v: %s, c%d, was refused", tc.mode, steps, tc.who, c)
			}
		}
	}
}

// TestSequentialSectionsAreNotRefused runs the sections one after another: no rule refuses an operation if the tokens
// are what the rule needs.
func TestSequentialSectionsAreNotRefused(t *testing.T) {
	inTurn := []int{0, 0, 1, 1, 2, 2}
	for _, mode := range fence.Modes() {
		if h := execute(t, mode, inTurn, increasing); h.writes() != clients || h.lostWrites() != 0 {
			t.Errorf("mode %s, increasing tokens: %d writes accepted, %d lost", mode, h.writes(), h.lostWrites())
		}
		if mode.NeedsToken() {
			continue
		}
		if h := execute(t, mode, inTurn, duplicate); h.writes() != clients || h.lostWrites() != 0 {
			t.Errorf("mode %s, duplicate tokens: %d writes accepted, %d lost", mode, h.writes(), h.lostWrites())
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

// history is the history of one register. A value is the number of the client that wrote it.
type history struct {
	final       int
	saw         [clients]int  // the value that the client's read returned
	accepted    [clients]bool // whether its write was accepted
	readers     []int         // in the order of their reads, refused or not
	firstWriter int           // the first to try
}

// writes counts the accepted ones.
func (h history) writes() int {
	n := 0
	for _, ok := range h.accepted {
		if ok {
			n++
		}
	}
	return n
}

// lostWrites counts the accepted writes that are not on the reads-from path back from the final value.
func (h history) lostWrites() int {
	lost := h.writes()
	for v := h.final; v != initial; v = h.saw[v] {
		lost--
	}
	return lost
}

// execution is an interleaving under a rule.
type execution struct {
	mode    fence.Mode
	state   fence.State
	ops     [clients]fence.Op // of each client, once it has begun
	begun   [clients]bool
	allowed [clients]bool // has read and was not refused
	history
}

// execute runs the steps under a rule. A client whose read is refused does not write.
func execute(t *testing.T, mode fence.Mode, steps []int, mint tokenSource) history {
	t.Helper()
	p := &execution{mode: mode, history: history{final: initial, firstWriter: -1}}
	for _, c := range steps {
		var err error
		if !p.begun[c] {
			p.ops[c] = fence.Op{Token: mint(len(p.readers)), Grant: string(rune('a' + c))}
			err = p.read(c)
		} else if p.allowed[c] {
			err = p.write(c)
		}
		if err != nil && !errors.Is(err, fence.ErrStale) {
			t.Fatal(err)
		}
	}
	return p.history
}

func (p *execution) read(c int) (err error) {
	p.begun[c] = true
	p.readers = append(p.readers, c)
	if p.state, err = p.mode.Read(p.state, p.ops[c]); err == nil {
		p.saw[c], p.allowed[c] = p.final, true
		p.ops[c].Version = p.state.Version
	}
	return err
}

func (p *execution) write(c int) (err error) {
	if p.firstWriter < 0 {
		p.firstWriter = c
	}
	if p.state, err = p.mode.Write(p.state, p.ops[c]); err == nil {
		p.final, p.accepted[c] = c, true
	}
	return err
}
