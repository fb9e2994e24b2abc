package child

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxLine is the maximal length of a line in bytes.
const MaxLine = 16 << 20

// ErrGarbage is wrapped by the error of [Reader.Read] for input that is not a line of JSON as it is expected.
var ErrGarbage = errors.New("not a line of the protocol")

// Reader reads lines.
type Reader struct{ r *bufio.Reader }

// NewReader reads the lines of r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReader(r)} }

// Read reads one value. It returns io.EOF only between two lines.
func (r *Reader) Read(v any) error {
	var line []byte
	for {
		part, err := r.r.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return fmt.Errorf("%w: longer than %d bytes", ErrGarbage, MaxLine)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			if err := json.Unmarshal(line, v); err != nil {
				return fmt.Errorf("%w: %.60q: %w", ErrGarbage, line, err)
			}
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return fmt.Errorf("the last line is truncated: %w", io.ErrUnexpectedEOF)
		default:
			return err
		}
	}
}

// Writer writes whole lines, from any number of goroutines.
type Writer struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriter writes lines to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes one value.
func (w *Writer) Write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write as JSON: %w", err)
	}
	if len(b) >= MaxLine {
		return fmt.Errorf("a line of %d bytes is too long: at most %d", len(b)+1, MaxLine)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err = w.w.Write(append(b, '\n'))
	return err
}
