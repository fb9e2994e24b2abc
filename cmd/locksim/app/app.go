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

	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
)

// Main runs the command on the arguments, streams and environment of the
// process and returns its exit code; see the package's documentation. extra are
// locks to offer besides those that come with locksim. A lock without a name,
// or with one that is taken, is a usage error. Call Main once in a process.
func Main(extra ...play.Lock) int {
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

// shell is what the command is called with: all of the outside world that it
// touches, except for files that the arguments name.
type shell struct {
	program  string // its name
	called   string // how people call it, where that is not by its name
	args     []string
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	extra    []play.Lock
}

// What some commands share.
type (
	// runs plays scenarios, once or again.
	runs struct{ *shell }
	// listing shows what there is.
	listing struct{ *shell }
	// serving shows pages.
	serving struct{ *shell }
)

// calledAs is how a program was called, or "" for by its name. A program that go run
// has built cannot be called by its name: see [builtByGoRun].
func calledAs(path, program string) string {
	if program == ownProgram && builtByGoRun.MatchString(filepath.ToSlash(path)) {
		return inClone
	}
	return ""
}

// builtByGoRun fits the path of a program that go run has built: it lies in a folder
// that is removed afterwards, or in the build cache, wherever GOCACHE says, in a folder
// named by the hash of its inputs.
var builtByGoRun = regexp.MustCompile(`/go-build[0-9]+/b[0-9]+/exe/[^/]+$|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

// command is how people call this program.
func (s *shell) command() string { return cmp.Or(s.called, s.program) }

// run is the whole command. No panic leaves it.
func (s *shell) run() (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = s.bug(r, debug.Stack())
		}
	}()
	if err := s.checkLocks(); err != nil {
		return s.complain(err)
	}
	return s.complain(s.root().Execute())
}

// checkLocks refuses locks that no flag could name.
func (s *shell) checkLocks() error {
	names := kinds.Names()
	for _, l := range s.extra {
		if l.Name == "" {
			return errors.New("a lock that was given to app.Main has no Name: flags and reports need one")
		}
		if slices.Contains(names, l.Name) {
			return fmt.Errorf("there are two locks called %s: give the one passed to app.Main another Name", l.Name)
		}
		names = append(names, l.Name)
	}
	return nil
}
