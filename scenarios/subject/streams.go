package subject

import (
	"io"
	"math/rand/v2"
	"sync"
)

// Streams gives each use one stream of c: a use that is named again goes on with its numbers. So a lock that asks for
// its entropy in each Acquire has another owner id each time, as with crypto/rand. The streams are safe for concurrent
// use; which goroutine gets which number is then up to their order.
func Streams(c Chance) Chance {
	return &streams{chance: c, sources: map[string]*sharedSource{}, readers: map[string]*sharedReader{}}
}

type streams struct {
	chance  Chance
	mu      sync.Mutex
	sources map[string]*sharedSource
	readers map[string]*sharedReader
}

// Source implements [Chance].
func (s *streams) Source(use string) rand.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sources[use] == nil {
		s.sources[use] = &sharedSource{source: s.chance.Source(use)}
	}
	return s.sources[use]
}

// Entropy implements [Chance].
func (s *streams) Entropy(use string) io.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readers[use] == nil {
		s.readers[use] = &sharedReader{reader: s.chance.Entropy(use)}
	}
	return s.readers[use]
}

type sharedSource struct {
	mu     sync.Mutex
	source rand.Source
}

// Uint64 implements [rand.Source].
func (s *sharedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}

type sharedReader struct {
	mu     sync.Mutex
	reader io.Reader
}

// Read implements [io.Reader].
func (r *sharedReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reader.Read(p)
}
