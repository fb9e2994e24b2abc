package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// workshop runs tests, with and without a mutant.
type workshop struct {
	root string // of the module
	dir  string // for temporary files, also those of the go command
}

// tested is the result of tests of one package.
type tested struct {
	built  bool              // the package and its tests compile
	passed bool              // all tests that ran have passed
	tests  map[string]string // the last action of each test: run, pass, fail, skip
	output string            // of the compiler and the tests
}

// testLimit limits the tests of one package on the wall clock: a mutant may hang.
const testLimit = 5 * time.Minute

var errHangs = fmt.Errorf("the test did not end within %v", testLimit)

// goTest runs the tests of a package that match a pattern. flags are further flags of go
// test.
//
// Most of the time is spent on compiling the package and its tests, so the compiler does
// not optimise, which halves that time. A property test draws the same inputs each time,
// and does not search for a smaller input that fails.
func (w workshop) goTest(ctx context.Context, pkg, pattern string, flags ...string) (tested, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, testLimit, errHangs)
	defer cancel()
	args := slices.Concat([]string{"test", "-json", "-vet=off", "-gcflags=./...=-N -l", "-count=1", "-run", pattern}, flags, []string{pkg})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = w.root
	cmd.Env = append(os.Environ(), "GOTMPDIR="+w.dir, "TMPDIR="+w.dir,
		"RAPID_NOFAILFILE=1", "RAPID_SEED=1", "RAPID_SHRINKTIME=0s", "LOCKSIM_SOAK=")
	killWhole(cmd)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return tested{}, context.Cause(ctx)
	}
	if exit, isExit := errors.AsType[*exec.ExitError](err); err != nil && !(isExit && exit.Exited()) {
		return tested{}, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	t := tested{built: true, passed: err == nil, tests: map[string]string{}}
	var text strings.Builder
	dec := json.NewDecoder(&out)
	for {
		var e struct{ Action, Test, Output, FailedBuild string }
		if err := dec.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return tested{}, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
		}
		text.WriteString(e.Output)
		if e.FailedBuild != "" {
			t.built = false
		}
		switch e.Action {
		case "run", "pass", "fail", "skip":
			t.tests[e.Test] = e.Action
		}
	}
	t.output = text.String() + stderr.String()
	return t, nil
}
