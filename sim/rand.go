package sim

import (
	"math/rand/v2"
	"sync"
)

// chance is the seed of a world, from which all its random numbers derive.
type chance uint64

// Draw is a random number that depends only on the seed and the names and
// numbers fed into it. The world draws every delay this way, so that an added
// draw changes no other. FNV-1a, finished by splitmix64. A Draw is a value:
// feeding it returns a new one.
type Draw uint64

func (c chance) draw(stream string) Draw {
	return Draw(14695981039346656037).Num(int64(c)).Str(stream)
}

// Str feeds a name.
func (d Draw) Str(s string) Draw {
	for i := 0; i < len(s); i++ {
		d = (d ^ Draw(s[i])) * 1099511628211
	}
	return (d ^ 0xff) * 1099511628211 // so that "ab"+"c" is not "a"+"bc"
}

// Num feeds a number.
func (d Draw) Num(n int64) Draw {
	for range 8 {
		d = (d ^ Draw(n&0xff)) * 1099511628211
		n >>= 8
	}
	return d
}

// Value is the drawn number.
func (d Draw) Value() uint64 {
	x := uint64(d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Between is a number from low to high, both included.
func (d Draw) Between(low, high int64) int64 {
	if high <= low {
		return low
	}
	return low + int64(d.Value()%uint64(high-low+1))
}

// stream creates the source of a name. Two names share no state.
func (c chance) stream(name string) rand.Source {
	d := c.draw("stream").Str(name)
	return rand.NewPCG(uint64(d), d.Value())
}

// stream is the source of a name, which goes on with the numbers of the new seed when the world has forked.
func (w *World) stream(name string) rand.Source {
	return &forking{w, name, w.chance, w.chance.stream(name)}
}

// forking is a source that follows the fork of its world.
type forking struct {
	w    *World
	name string
	by   chance // of which the source is
	rand.Source
}

func (s *forking) Uint64() uint64 {
	if s.by != s.w.chance {
		s.by, s.Source = s.w.chance, s.w.chance.stream(s.name)
	}
	return s.Source.Uint64()
}

// entropy is a reader of random bytes, in place of crypto/rand.
type entropy struct{ r *rand.ChaCha8 }

func (c chance) entropy(name string) *entropy {
	var key [32]byte
	d := c.draw("entropy").Str(name)
	for i := range key {
		d = d.Num(int64(i))
		key[i] = byte(d.Value())
	}
	return &entropy{rand.NewChaCha8(key)}
}

func (e *entropy) Read(p []byte) (int, error) { return e.r.Read(p) }

// lockedSource is a source that goroutines may share.
type lockedSource struct {
	mu     sync.Mutex
	source rand.Source
}

func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}
