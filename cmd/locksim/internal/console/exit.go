package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"locksim/faults"
	"locksim/reports"
	"locksim/scenarios/file"
)

// The exit codes.
const (
	ExitExpected   = 0 // as expected
	ExitUnexpected = 1 // worse than expected, live runs that differ from simulated ones, or a search that is no evidence
	ExitUsage      = 2 // bad usage or bad input
	ExitBroken     = 3 // the harness failed, or a run was not deterministic
)

// ErrUnexpected is returned when a run was worse than its scenario expects, when live runs differ from simulated ones
// and nothing says why, or when a search is no evidence. It is not printed: the report shows the label.
var ErrUnexpected = errors.New("a run is not as expected")

// BrokenError is returned when the harness failed, or a run was not
// deterministic. Every other error is about the user's input.
type BrokenError struct {
	// Cause is the error itself.
	Cause error
	// Seed and Replay are the first and last line of the message, where a run
	// had started.
	Seed, Replay string
}

func (e *BrokenError) Error() string { return e.Cause.Error() }
func (e *BrokenError) Unwrap() error { return e.Cause }

// ExitCode writes an error to standard error and returns the exit code.
func (c *Console) ExitCode(err error) int {
	broken, isBroken := errors.AsType[*BrokenError](err)
	switch {
	case err == nil:
		return ExitExpected
	case errors.Is(err, ErrUnexpected):
		return ExitUnexpected
	case isBroken:
		c.Note(broken.Seed)
		c.Note(c.Program + ": " + err.Error())
		if broken.Replay != "" {
			c.Note("replay: " + broken.Replay)
		}
		return ExitBroken
	}
	if input, ok := errors.AsType[*file.InputError](err); ok && input.Pos != (faults.Pos{}) {
		c.Note(c.InOwnWords(err.Error())) // it begins with file, line and column, which editors parse
		return ExitUsage
	}
	c.Note(c.Program + ": " + c.InOwnWords(err.Error()))
	return ExitUsage
}

// ReportPanic writes a panic as a bug of locksim: no input should cause one.
func (c *Console) ReportPanic(cause any, stack []byte) int {
	c.Note(fmt.Sprintf("%s: this is a bug in locksim, please report it with the lines below: %v\n%s", c.Program, cause,
		stack))
	return ExitBroken
}

// Note writes a line to standard error. A failure to write there is ignored, since it
// cannot be reported anywhere else.
func (c *Console) Note(line string) {
	if line != "" {
		_, _ = fmt.Fprintln(c.Err, line)
	}
}

// PrintJSON writes one document to standard output.
func (c *Console) PrintJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return &BrokenError{Cause: fmt.Errorf("write as JSON: %w", err)}
	}
	_, err = c.Out.Write(append(b, '\n'))
	return c.Print(err)
}

// Print turns an error of writing to standard output into a brokenError: it is not
// about the user's input.
func (c *Console) Print(err error) error {
	if err != nil {
		return &BrokenError{Cause: fmt.Errorf("write to standard output: %w", err)}
	}
	return nil
}

// Colour selects the colours of the report on standard output: none where that is not
// a terminal, or where the environment disables them (https://no-color.org).
func (c *Console) Colour(terminal func(io.Writer) bool) reports.Colour {
	if c.Getenv("NO_COLOR") != "" || c.Getenv("TERM") == "dumb" || !terminal(c.Out) {
		return reports.Plain
	}
	return reports.ANSI
}
