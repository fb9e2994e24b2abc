package workers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxLine is the maximal length of a line in bytes, and so of a job and an answer.
const MaxLine = 16 << 20

// protocol is the version of the lines. A child of another version is refused.
const protocol = 1

// request is a line from the parent.
type request struct {
	ID  int             `json:"id"`
	Job json.RawMessage `json:"job"`
}

// reply is a line from the child: that it is ready, a step of a job, a result, or an
// error; after either of these it may be spent, see [ErrSpent] and [ErrLast].
type reply struct {
	Ready  int             `json:"ready,omitempty"`
	ID     int             `json:"id"`
	Step   bool            `json:"step,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Spent  bool            `json:"spent,omitempty"`
}

// errGarbage is wrapped by the error of readLine for input that is not a line of the
// protocol.
var errGarbage = errors.New("not a line of the protocol")

// readLine reads one JSON value. It returns io.EOF only between two lines.
func readLine(r *bufio.Reader, v any) error {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return fmt.Errorf("%w: longer than %d bytes", errGarbage, MaxLine)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return parseLine(line, v)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return fmt.Errorf("the last line is truncated: %w", io.ErrUnexpectedEOF)
		default:
			return err
		}
	}
}

func parseLine(line []byte, v any) error {
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("%w: %.60q: %w", errGarbage, line, err)
	}
	return nil
}

// lineWriter writes whole lines, from any number of goroutines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write as JSON: %w", err)
	}
	if len(b) >= MaxLine {
		return fmt.Errorf("a line of %d bytes is too long: at most %d", len(b)+1, MaxLine)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.w.Write(append(b, '\n'))
	return err
}
