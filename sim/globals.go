package sim

import (
	crand "crypto/rand"
	"io"
	"math/rand"
	"sync"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/log"
)

// This file is the only one that touches the global random sources. Locks of
// other people draw from them; a run seeds them and puts them back.

// globals guards what belongs to the whole program: its random sources. It is the
// only state of this package that outlives a run.
var globals sync.Mutex

// seedGlobals takes hold of the process's global random sources for one run
// and seeds them. The function that it returns gives them back.
//
// Seeding math/rand takes godebug randseednop=0 in the main module's go.mod,
// or the line "//go:debug randseednop=0" in the main package or a test file;
// without it [GlobalRandSeedable] reports false.
func seedGlobals(seed uint64) (release func()) {
	globals.Lock()
	silence()
	rand.Seed(int64(seed)) //nolint:staticcheck // the only way to reach other people's global draws
	old := crand.Reader
	crand.Reader = globalEntropy(seed)
	return func() {
		crand.Reader = old
		globals.Unlock()
	}
}

// globalEntropy stands in for crypto/rand.Reader; clients may share it.
func globalEntropy(seed uint64) io.Reader {
	return &lockedReader{r: chance(seed).entropy("crypto/rand")}
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

// GlobalRandSeedable reports whether the global source of math/rand follows
// the seed in this program. Where it does not, a lock that draws from it is
// reported as nondeterministic; see [Run]'s package for the line that helps.
func GlobalRandSeedable() bool {
	globals.Lock()
	defer globals.Unlock()
	rand.Seed(1) //nolint:staticcheck // see seedGlobals
	a := rand.Int63()
	rand.Seed(1) //nolint:staticcheck // see seedGlobals
	return a == rand.Int63()
}

// silence keeps toxiproxy from writing to standard error: its bandwidth toxic
// traces that it was taken off. Of zerolog's global logger, which a program may
// use too, only that level goes.
var silence = sync.OnceFunc(func() {
	log.Logger = log.Logger.Level(max(log.Logger.GetLevel(), zerolog.DebugLevel))
})
