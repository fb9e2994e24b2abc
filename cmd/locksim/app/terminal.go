package app

import (
	"io"
	"os"
	"time"

	"locksim/reports"
)

// isTerminal reports whether a stream is a person's screen.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// colour is how the report on standard output is coloured: not at all where
// nobody looks, or where the user does not want it (https://no-color.org).
func (s *shell) colour(terminal func(io.Writer) bool) reports.Colour {
	if s.getenv("NO_COLOR") != "" || s.getenv("TERM") == "dumb" || !terminal(s.out) {
		return reports.Plain
	}
	return reports.ANSI
}

// patience is how long a command may be silent, on the wall clock.
const patience = time.Second

// busy tells a person at a terminal that something is still going on, if it
// takes a while. The function that it returns takes the message back.
func (s *shell) busy(what string) (done func()) {
	if !isTerminal(s.err) {
		return func() {}
	}
	shown := make(chan bool, 1)
	timer := time.AfterFunc(patience, func() {
		_, _ = io.WriteString(s.err, what+" …") // it is only a courtesy
		shown <- true
	})
	return func() {
		if timer.Stop() {
			return
		}
		<-shown
		_, _ = io.WriteString(s.err, "\r\x1b[K")
	}
}
