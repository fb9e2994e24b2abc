package app

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/roster"
	"locksim/internal/live"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
)

// Main runs the command on the arguments, streams and environment of the
// process and returns its exit code; see the package's documentation. extra are
// locks to offer in addition to the built-in ones. A lock without a name, or with a
// name that another lock has, is a usage error. Call Main once in a process.
func Main(extra ...subject.Lock) int {
	if live.Child(extra...) {
		return console.ExitExpected
	}
	// A pipe that its reader has closed does not end the process then: the results are still stored, and the exit code
	// says what was found. The channel is not read.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s := &shell{Console: console.OfProcess(), args: os.Args[1:], Roster: roster.Roster{Extra: extra}}
	return s.run()
}

// shell is the whole command: its console, its arguments and the program's own locks.
type shell struct {
	*console.Console
	args []string
	roster.Roster
}

// run is the whole command. It turns a panic into an exit code.
func (s *shell) run() (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = s.ReportPanic(r, debug.Stack())
		}
	}()
	if err := s.checkLocks(); err != nil {
		return s.ExitCode(err)
	}
	err := s.root().Execute()
	if failure := s.stopServers(); failure != nil {
		s.Note(s.Program + ": " + failure.Error())
	}
	return s.ExitCode(err)
}

// stopServers ends what the locks have started outside their worlds.
func (s *shell) stopServers() error {
	var errs []error
	var done []string
	for _, l := range s.Extra {
		for _, servers := range l.Servers {
			if k := servers.Kind; k.Stop != nil && !slices.Contains(done, k.Name) {
				done = append(done, k.Name)
				errs = append(errs, k.Stop())
			}
		}
	}
	return errors.Join(errs...)
}

// checkLocks refuses locks that no flag can name.
func (s *shell) checkLocks() error {
	names := kinds.Names()
	for _, l := range s.Extra {
		if l.Name == "" {
			return errors.New("a lock passed to app.Main has no Name: flags and reports need one")
		}
		if slices.Contains(names, l.Name) {
			return fmt.Errorf("there are two locks called %s: give the one passed to app.Main another Name", l.Name)
		}
		names = append(names, l.Name)
	}
	return nil
}
