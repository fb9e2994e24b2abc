package book

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"

	"locksim/internal/journal"
)

// Book has results of type T with keys of type K: those of a file, and those that are added. Several goroutines may
// call its methods at the same time.
type Book[K comparable, T any] struct {
	key     func(T) K
	state   func(T) string
	now     *Checkout        // where results of other commits are made again, else nil
	journal *journal.Journal // nil without a file to write

	mu     sync.Mutex
	all    []T
	latest map[K]T
}

// Open opens the book in a file, which may be missing. Results are added to the file. With "" there is none.
func Open[K comparable, T any](file string, key func(T) K) (*Book[K, T], error) {
	if file == "" {
		return of(key), nil
	}
	b, end, err := read(file, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	b.journal, err = journal.Open(file, end)
	return b, err
}

// Read reads the book in a file, which must be there, and leaves the file as it is: results that are added are not
// stored. Another program may write the file meanwhile.
func Read[K comparable, T any](file string, key func(T) K) (*Book[K, T], error) {
	b, _, err := read(file, key)
	return b, err
}

func of[K comparable, T any](key func(T) K) *Book[K, T] {
	return &Book[K, T]{key: key, latest: map[K]T{}}
}

// read reads a book, and the offset at which its file goes on.
func read[K comparable, T any](file string, key func(T) K) (b *Book[K, T], end int64, err error) {
	b = of(key)
	text, err := os.ReadFile(file)
	if err != nil {
		return b, 0, err
	}
	end, err = journal.Read(file, text, func(_ int, line []byte) error {
		var r T
		if json.Unmarshal(line, &r) != nil {
			return journal.ErrNoResult
		}
		b.take(r)
		return nil
	})
	return b, end, err
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

// Chosen opens the book that the flags of a program ask for. State is the commit of a result, as [Checkout.State] has
// it.
func Chosen[K comparable, T any](c *Choices, key func(T) K, state func(T) string) (b *Book[K, T], err error) {
	if c.Stored {
		return Read(c.Journal, key)
	}
	if b, err = Open(c.Journal, key); err != nil || !c.Anew || c.Journal == "" {
		return b, err
	}
	b.state = state
	if b.now, err = ThisCheckout(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// State is the state of the checkout by which a book with [Choices.Anew] says what may stay; "" for any other book.
func (b *Book[K, T]) State() string {
	if b.now == nil {
		return ""
	}
	return b.now.State
}

// Kept is the last result with a key, if it may stay: any, but where [Choices.Anew] is set one that this checkout would
// make.
func (b *Book[K, T]) Kept(k K) (r T, ok bool, err error) {
	if r, ok = b.Latest(k); ok && b.now != nil {
		ok, err = b.now.Same(b.state(r))
	}
	return r, ok, err
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
