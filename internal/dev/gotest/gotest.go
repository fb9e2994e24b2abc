// Package gotest runs tests with a mistake in the code that they test, and tells what became of them. It reads the
// events of go test.
package gotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Workshop runs tests, with and without a mutant.
type Workshop struct {
	Root  string        // of the module; others may be below it
	Dir   string        // for temporary files, also those of the go command
	Limit time.Duration // of the tests of one package, on the wall clock: a mutant may hang
}

// Tested is the result of tests of one package.
type Tested struct {
	Built  bool              // the package and its tests compile
	Passed bool              // all tests that ran have passed
	Tests  map[string]string // the last action of each test: run, pass, fail, skip
	Output string            // of the compiler and the tests
}

// ErrHangs is returned when the tests did not end within the limit.
var ErrHangs = errors.New("the tests did not end in time")

// Run runs the tests of a package that match a pattern. flags are further flags of go test.
//
// Most of the time is spent on compiling the package and its tests, so the compiler does
// not optimise, which halves that time. A property test draws the same inputs each time,
// and does not search for a smaller input that fails.
func (w Workshop) Run(ctx context.Context, pkg, pattern string, flags ...string) (Tested, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.Limit, fmt.Errorf("%w: %v", ErrHangs, w.Limit))
	defer cancel()
	dir, pkg := w.module(pkg)
	args := slices.Concat([]string{"test", "-json", "-vet=off", "-gcflags=./...=-N -l", "-count=1", "-run", pattern},
		flags, []string{pkg})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTMPDIR="+w.Dir, "TMPDIR="+w.Dir,
		"RAPID_NOFAILFILE=1", "RAPID_SEED=1", "RAPID_SHRINKTIME=0s", "LOCKSIM_SOAK=")
	killWhole(cmd)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return Tested{}, context.Cause(ctx)
	}
	if exit, isExit := errors.AsType[*exec.ExitError](err); err != nil && !(isExit && exit.Exited()) {
		return Tested{}, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	t := Tested{Built: true, Passed: err == nil, Tests: map[string]string{}}
	var text strings.Builder
	for e, err := range Events(&out) {
		if err != nil {
			return Tested{}, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
		}
		text.WriteString(e.Output)
		if e.FailedBuild != "" {
			t.Built = false
		}
		switch e.Action {
		case "run", "pass", "fail", "skip":
			t.Tests[e.Test] = e.Action
		}
	}
	t.Output = text.String() + stderr.String()
	return t, nil
}

// module is the folder of the module of a package, which may be one below Root, and the package from there.
func (w Workshop) module(pkg string) (dir, from string) {
	for at := path.Clean(pkg); at != "."; at = path.Dir(at) {
		dir := filepath.Join(w.Root, filepath.FromSlash(at))
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, "./" + strings.TrimPrefix(strings.TrimPrefix(path.Clean(pkg), at), "/")
		}
	}
	return w.Root, pkg
}
