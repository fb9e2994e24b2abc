package app

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
	exitExpected   = 0 // as expected
	exitUnexpected = 1 // a label that is worse than expected, live runs that differ from simulated ones, or a search that is no evidence
	exitUsage      = 2 // bad usage or bad input
	exitBroken     = 3 // the harness failed, or a run was not deterministic
)

// errUnexpected is returned when a run was worse than its scenario expects, when live runs differ from simulated ones and nothing
// says why, or when a search is no evidence. It is not printed: the report shows the label.
var errUnexpected = errors.New("a run is not as expected")

// brokenError is returned when the harness failed, or a run was not
// deterministic. Every other error is about the user's input.
type brokenError struct {
	cause error
	// seed and replay are the first and last line of the message, where a run
	// had started.
	seed, replay string
}

func (e *brokenError) Error() string { return e.cause.Error() }
func (e *brokenError) Unwrap() error { return e.cause }

// exitCode writes an error to standard error and returns the exit code.
func (c *console) exitCode(err error) int {
	broken, isBroken := errors.AsType[*brokenError](err)
	switch {
	case err == nil:
		return exitExpected
	case errors.Is(err, errUnexpected):
		return exitUnexpected
	case isBroken:
		c.note(broken.seed)
		c.note(c.program + ": " + err.Error())
		if broken.replay != "" {
			c.note("replay: " + broken.replay)
		}
		return exitBroken
	}
	if input, ok := errors.AsType[*file.InputError](err); ok && input.Pos != (faults.Pos{}) {
		c.note(c.inOwnWords(err.Error())) // it begins with file, line and column, which editors parse
		return exitUsage
	}
	c.note(c.program + ": " + c.inOwnWords(err.Error()))
	return exitUsage
}

// reportPanic writes a panic as a bug of locksim: no input should cause one.
func (c *console) reportPanic(cause any, stack []byte) int {
	c.note(fmt.Sprintf("%s: this is a bug in locksim, please report it with the lines below: %v\n%s", c.program, cause, stack))
	return exitBroken
}

// note writes a line to standard error. A failure to write there is ignored, since it
// cannot be reported anywhere else.
func (c *console) note(line string) {
	if line != "" {
		_, _ = fmt.Fprintln(c.err, line)
	}
}

// printJSON writes one document to standard output.
func (c *console) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return &brokenError{cause: fmt.Errorf("write as JSON: %w", err)}
	}
	_, err = c.out.Write(append(b, '\n'))
	return c.print(err)
}

// print turns an error of writing to standard output into a brokenError: it is not
// about the user's input.
func (c *console) print(err error) error {
	if err != nil {
		return &brokenError{cause: fmt.Errorf("write to standard output: %w", err)}
	}
	return nil
}

// colour selects the colours of the report on standard output: none where that is not
// a terminal, or where the environment disables them (https://no-color.org).
func (c *console) colour(terminal func(io.Writer) bool) reports.Colour {
	if c.getenv("NO_COLOR") != "" || c.getenv("TERM") == "dumb" || !terminal(c.out) {
		return reports.Plain
	}
	return reports.ANSI
}
