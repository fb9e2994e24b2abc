package book

import (
	"sync"

	"locksim/internal/journal"
)

// Book has results of type T with keys of type K: those of a file, and those that are added. Several goroutines may
// call its methods at the same time.
type Book[K comparable, T any] struct {
	key     func(T) K
	journal *journal.Journal[T]

	mu     sync.Mutex
	all    []T
	latest map[K]T
}

// Open opens the book in a file, which may be missing. Results are added to the file. With "" there is none.
func Open[K comparable, T any](file string, key func(T) K) (*Book[K, T], error) {
	j, err := journal.Open[T](file)
	if err != nil {
		return nil, err
	}
	return of(j, key), nil
}

// Read reads the book in a file, which must be there, and leaves the file as it is: results that are added are not
// stored. Another program may write the file meanwhile.
func Read[K comparable, T any](file string, key func(T) K) (*Book[K, T], error) {
	j, err := journal.Read[T](file)
	if err != nil {
		return nil, err
	}
	return of(j, key), nil
}

func of[K comparable, T any](j *journal.Journal[T], key func(T) K) *Book[K, T] {
	b := &Book[K, T]{key: key, journal: j, latest: map[K]T{}}
	for _, r := range j.Made() {
		b.take(r)
	}
	return b
}

func (b *Book[K, T]) take(r T) {
	b.all = append(b.all, r)
	b.latest[b.key(r)] = r
}

// Add adds a result, and writes it into the file at once.
func (b *Book[K, T]) Add(r T) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(r)
	return b.journal.Add(r)
}

// Latest is the last result with a key.
func (b *Book[K, T]) Latest(k K) (r T, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok = b.latest[k]
	return r, ok
}

// All are the results in the order in which they were made, also those that others have replaced. The caller owns the
// slice.
func (b *Book[K, T]) All() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]T(nil), b.all...)
}

// Close closes the file.
func (b *Book[K, T]) Close() error { return b.journal.Close() }
