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

// reportError writes an error to standard error and returns the exit code.
func (s *shell) reportError(err error) int {
	broken, isBroken := errors.AsType[*brokenError](err)
	switch {
	case err == nil:
		return exitExpected
	case errors.Is(err, errUnexpected):
		return exitUnexpected
	case isBroken:
		s.note(broken.seed)
		s.note(s.program + ": " + err.Error())
		if broken.replay != "" {
			s.note("replay: " + broken.replay)
		}
		return exitBroken
	}
	if input, ok := errors.AsType[*file.InputError](err); ok && input.Pos != (faults.Pos{}) {
		s.note(s.inOwnWords(err.Error())) // it begins with file, line and column, which editors parse
		return exitUsage
	}
	s.note(s.program + ": " + s.inOwnWords(err.Error()))
	return exitUsage
}

// reportPanic writes a panic as a bug of locksim: no input should cause one.
func (s *shell) reportPanic(cause any, stack []byte) int {
	s.note(fmt.Sprintf("%s: this is a bug in locksim, please report it with the lines below: %v\n%s", s.program, cause, stack))
	return exitBroken
}

// note writes a line to standard error. A failure to write there is ignored, since it
// cannot be reported anywhere else.
func (s *shell) note(line string) {
	if line != "" {
		_, _ = fmt.Fprintln(s.err, line)
	}
}

// printJSON writes one document to standard output.
func (s *shell) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return &brokenError{cause: fmt.Errorf("write as JSON: %w", err)}
	}
	_, err = s.out.Write(append(b, '\n'))
	return s.print(err)
}

// print turns an error of writing to standard output into a brokenError: it is not
// about the user's input.
func (s *shell) print(err error) error {
	if err != nil {
		return &brokenError{cause: fmt.Errorf("write to standard output: %w", err)}
	}
	return nil
}

// colour selects the colours of the report on standard output: none where that is not
// a terminal, or where the environment disables them (https://no-color.org).
func (s *shell) colour(terminal func(io.Writer) bool) reports.Colour {
	if s.getenv("NO_COLOR") != "" || s.getenv("TERM") == "dumb" || !terminal(s.out) {
		return reports.Plain
	}
	return reports.ANSI
}
