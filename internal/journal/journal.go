// Package journal keeps the results of a program that takes long as lines of JSON in a file, so that it goes on after
// an interruption.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
)

// Journal has results of type T. Several goroutines may call Add at the same time; the results that Made returns are
// those before the journal was opened.
type Journal[T any] struct {
	mu   sync.Mutex
	made []T
	out  *os.File // nil without a file to write
}

// Open reads the journal in a file, which may be missing, and adds to it from then on. A line that was cut off is
// skipped, and what follows has a line of its own. With "" nothing is read or written.
func Open[T any](name string) (*Journal[T], error) {
	j := new(Journal[T])
	if name == "" {
		return j, nil
	}
	before, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	j.take(before)
	if j.out, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		_, err = j.out.WriteString("\n")
	}
	return j, err
}

// Read reads the journal in a file, which must be there, and leaves the file as it is: what is added is not written.
// Another program may write the file meanwhile.
func Read[T any](name string) (*Journal[T], error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	j := new(Journal[T])
	j.take(text)
	return j, nil
}

func (j *Journal[T]) take(text []byte) {
	for line := range bytes.Lines(text) {
		var r T
		if json.Unmarshal(line, &r) == nil { // else a program was interrupted in the middle of a line
			j.made = append(j.made, r)
		}
	}
}

// Made are the results that were in the file, in the order in which they were added. The journal owns the slice.
func (j *Journal[T]) Made() []T { return j.made }

// Add writes a result into the file.
func (j *Journal[T]) Add(r T) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.out == nil {
		return nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = j.out.Write(append(b, '\n'))
	return err
}

// Close closes the file.
func (j *Journal[T]) Close() error {
	if j.out == nil {
		return nil
	}
	return j.out.Close()
}
