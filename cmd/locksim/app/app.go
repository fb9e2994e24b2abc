package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"locksim/internal/live"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
)

// Main runs the command on the arguments, streams and environment of the
// process and returns its exit code; see the package's documentation. extra are
// locks to offer in addition to the built-in ones. A lock without a name, or with a
// name that another lock has, is a usage error. Call Main once in a process.
func Main(extra ...play.Lock) int {
	if live.Child(extra...) {
		return exitExpected
	}
	// A pipe that its reader has closed is an error of writing then, and does not end the process before what was found
	// is printed elsewhere. The channel is not read.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	pkg, module := mainPackage()
	s := &shell{
		program: programName(os.Args[0]),
		called:  calledAs(os.Args[0], pkg, module, moduleHere()),
		args:    os.Args[1:],
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
		getenv:  os.Getenv,
		extra:   extra,
	}
	return s.run()
}

// shell holds the arguments, streams and environment of the command: everything
// outside the process that it uses, except for files.
type shell struct {
	program  string // the name of the program
	called   string // the command line that starts it, where that is not its name; see calledAs
	args     []string
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	extra    []play.Lock
}

// Groups of commands, each with its own methods.
type (
	// runs has the commands that play or replay single runs.
	runs struct{ *shell }
	// listing has the list command.
	listing struct{ *shell }
	// serving has the serve command and the index of a folder.
	serving struct{ *shell }
)

// run is the whole command. It turns a panic into an exit code.
func (s *shell) run() (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = s.reportPanic(r, debug.Stack())
		}
	}()
	if err := s.checkLocks(); err != nil {
		return s.reportError(err)
	}
	err := s.root().Execute()
	if failure := s.stopServers(); failure != nil {
		s.note(s.program + ": " + failure.Error())
	}
	return s.reportError(err)
}

// stopServers ends what the locks have started outside their worlds.
func (s *shell) stopServers() error {
	var errs []error
	var done []string
	for _, l := range s.extra {
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
	for _, l := range s.extra {
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
