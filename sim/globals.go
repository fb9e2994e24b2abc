package sim

import (
	crand "crypto/rand"
	"io"
	"math/rand"
	"sync"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/log"
)

// This file is the only one that uses the global random sources. Third-party
// locks draw from them; a run seeds them and restores them.

// globals guards the random sources of the whole program. It is the only state
// of this package that outlives a run.
var globals sync.Mutex

// seedGlobals locks the program's global random sources for one run and seeds
// them. The returned function restores and unlocks them.
//
// Seeding math/rand needs godebug randseednop=0 in the main module's go.mod, or
// the line "//go:debug randseednop=0" in the main package or a test file;
// without it [GlobalRandSeedable] reports false.
func seedGlobals(seed uint64) (release func()) {
	globals.Lock()
	silence()
	refuseLookups()
	bytes := &globalEntropy{lockedReader{r: chance(seed).entropy("crypto/rand")}}
	if Overlaid() { // the numbers come from thisProcess
		overlaySetReader(bytes)
		return func() {
			overlaySetReader(nil)
			globals.Unlock()
		}
	}
	rand.Seed(int64(seed)) //nolint:staticcheck // the only way to seed the global draws of third-party code
	old := crand.Reader
	crand.Reader = bytes
	return func() {
		crand.Reader = old
		globals.Unlock()
	}
}

// reseedGlobals makes the numbers of the global source others, in a run that has forked. With the overlay they come
// from the generators of the processes, which follow the fork by themselves.
func reseedGlobals(seed uint64) {
	if !Overlaid() {
		rand.Seed(int64(seed)) //nolint:staticcheck // see seedGlobals
	}
}

// globalEntropy replaces crypto/rand.Reader: each process has its own bytes, and all other
// goroutines of the program share some.
type globalEntropy struct{ others lockedReader }

func (g *globalEntropy) Read(b []byte) (int, error) {
	if p := thisProcess(); p != nil {
		return p.entropy.Read(b)
	}
	return g.others.Read(b)
}

type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// GlobalRandSeedable reports whether [Run] can seed the global source of
// math/rand in this program. Otherwise a lock that draws from it is reported as
// nondeterministic. The go.mod of the main module needs godebug randseednop=0,
// or the program is [Overlaid].
func GlobalRandSeedable() bool {
	if Overlaid() {
		return true
	}
	globals.Lock()
	defer globals.Unlock()
	rand.Seed(1) //nolint:staticcheck // see seedGlobals
	a := rand.Int63()
	rand.Seed(1) //nolint:staticcheck // see seedGlobals
	return a == rand.Int63()
}

// silence keeps toxiproxy from writing to standard error: its bandwidth toxic
// logs its removal at trace level. zerolog's global logger, which a program may
// use too, loses only that level.
var silence = sync.OnceFunc(func() {
	log.Logger = log.Logger.Level(max(log.Logger.GetLevel(), zerolog.DebugLevel))
})
