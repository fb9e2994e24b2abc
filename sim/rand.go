package sim

import (
	"math/rand/v2"
)

// A draw is a random number that depends on nothing but the seed and the
// names fed into it. The world draws every delay this way, so that one draw
// more in one place changes none elsewhere. FNV-1a, finished by splitmix64.
type draw uint64

func (w *World) draw(stream string) draw {
	return draw(14695981039346656037).num(int64(w.cfg.Seed)).str(stream)
}

func (d draw) str(s string) draw {
	for i := 0; i < len(s); i++ {
		d = (d ^ draw(s[i])) * 1099511628211
	}
	return (d ^ 0xff) * 1099511628211 // so that "ab"+"c" is not "a"+"bc"
}

func (d draw) num(n int64) draw {
	for range 8 {
		d = (d ^ draw(n&0xff)) * 1099511628211
		n >>= 8
	}
	return d
}

// value is the drawn number.
func (d draw) value() uint64 {
	x := uint64(d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// between is a number from low to high, both included.
func (d draw) between(low, high int64) int64 {
	if high <= low {
		return low
	}
	return low + int64(d.value()%uint64(high-low+1))
}

// stream makes a source of its own for a name. Two names share no state.
func (w *World) stream(name string) rand.Source {
	d := w.draw("stream").str(name)
	return rand.NewPCG(uint64(d), d.value())
}

// entropy is a reader of random bytes, in place of crypto/rand.
type entropy struct{ r *rand.ChaCha8 }

func (w *World) entropy(name string) *entropy {
	var key [32]byte
	d := w.draw("entropy").str(name)
	for i := range key {
		d = d.num(int64(i))
		key[i] = byte(d.value())
	}
	return &entropy{rand.NewChaCha8(key)}
}

func (e *entropy) Read(p []byte) (int, error) { return e.r.Read(p) }
