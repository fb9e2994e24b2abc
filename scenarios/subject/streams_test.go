package subject_test

import (
	"io"
	"math/rand/v2"
	"testing"

	"locksim/scenarios/subject"
)

// anew begins each stream anew, as the processes of a world do.
type anew struct{}

func (anew) Source(use string) rand.Source { return rand.NewPCG(uint64(len(use)), 1) }
func (anew) Entropy(use string) io.Reader  { return rand.NewChaCha8([32]byte{byte(len(use))}) }

// A lock that asks for its entropy in each Acquire has another owner id each time; another use has other numbers, and
// equal streams are equal.
func TestStreamsGoOn(t *testing.T) {
	ids := func() (all [4]uint64) {
		c := subject.Streams(anew{})
		for i, use := range []string{"id", "id", "other", "id"} {
			var b [8]byte
			if _, err := io.ReadFull(c.Entropy(use), b[:]); err != nil {
				t.Fatal(err)
			}
			all[i] = uint64(b[0])<<8 | uint64(b[1]) | c.Source(use).Uint64()<<16
		}
		return all
	}
	first := ids()
	for i, id := range first {
		for _, other := range first[:i] {
			if id == other {
				t.Errorf("two of %d are equal", first)
			}
		}
	}
	if again := ids(); again != first {
		t.Errorf("equal streams give %d and %d", first, again)
	}
}
