package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

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
	program := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	s := &shell{
		program: program,
		called:  calledAs(os.Args[0], program),
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
	called   string // the command line that starts it, where that is not its name
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

// calledAs is the command line that starts the program at a path, or "" for its name.
// A program that go run has built cannot be started by its name: see [builtByGoRun].
func calledAs(path, program string) string {
	if program == ownProgram && builtByGoRun.MatchString(filepath.ToSlash(path)) {
		return inClone
	}
	return ""
}

// builtByGoRun matches the path of a program that go run has built: it is in a folder
// that go run removes afterwards, or in the build cache, which GOCACHE may have put
// anywhere, in a folder named after the hash of the program's inputs.
var builtByGoRun = regexp.MustCompile(`/go-build[0-9]+/b[0-9]+/exe/[^/]+$|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

// command is the command line that starts this program.
func (s *shell) command() string { return cmp.Or(s.called, s.program) }

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
