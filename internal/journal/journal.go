// Package journal keeps the results of a program that takes long as lines of JSON in a file, so that it goes on after
// an interruption. Packages book and campaign say what the lines are.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// ErrNoResult is returned by the function of [Read] for a line that is not a result.
var ErrNoResult = errors.New("this line is not a result")

// Read calls take with each whole line of a journal and its number, from 1. It returns the offset after the last one,
// at which [Open] goes on: what follows it was cut off by an interruption. A last line that is not a result may have
// been damaged when the machine lost power, and is not counted either; any other one is an error.
func Read(name string, text []byte, take func(number int, line []byte) error) (end int64, err error) {
	for n := 1; ; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return end, nil
		}
		err := take(n, line)
		switch {
		case errors.Is(err, ErrNoResult) && len(rest) == 0:
			return end, nil
		case errors.Is(err, ErrNoResult):
			return end, fmt.Errorf("%s:%d: %w: delete it, and its job is executed again", name, n, ErrNoResult)
		case err != nil:
			return end, err
		}
		text, end = rest, end+int64(len(line)+1)
	}
}

// Journal is a file to which results are added. The methods of nil do nothing.
type Journal struct{ file *os.File }

// Open opens a file, which may be missing, for results after an offset. What is in it from there on is removed.
func Open(name string, end int64) (*Journal, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{f}
	is, err := f.Stat()
	if err == nil && is.Size() > end { // another program may add to it meanwhile
		err = f.Truncate(end)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Line is a value as a line of a journal.
func Line(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write as JSON: %w", err)
	}
	return b.Bytes(), nil
}

// Add adds a result. When it returns, the line is on the disk.
func (j *Journal) Add(v any) error {
	if j == nil {
		return nil
	}
	line, err := Line(v)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(line); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return j.file.Sync()
}

// Close closes the file.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
