package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// fate is what became of a mutant.
type fate string

const (
	killed   fate = "killed"
	survived fate = "SURVIVED"
	stale    fate = "out of date"      // its text is not in the file
	invalid  fate = "does not compile" // so it says nothing about the tests
)

// result is a mutant with its fate.
type result struct {
	mutant
	fate   fate
	detail string // what to look at where it was not killed
}

// workshop builds test binaries, with and without a mutant.
type workshop struct {
	root string // of the module
	dir  string // for whatever it makes
}

// find returns the root of the module that the working directory is in.
func findRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// build makes the test binary of a package. overlay is a file for -overlay, or
// empty. output is what the compiler says where it fails.
func (w workshop) build(ctx context.Context, name, pkg, overlay string) (binary, output string, err error) {
	binary = filepath.Join(w.dir, name+".test")
	args := []string{"test", "-c", "-vet=off", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir = w.root
	out, err := cmd.CombinedOutput()
	return binary, string(out), err
}

// patience bounds one test on the wall clock: a mutant may hang.
const patience = "60s"

// run runs tests of a binary, with the same random inputs each time. output is
// what they print where one fails.
func (w workshop) run(ctx context.Context, binary, pkg, pattern string) (output string, passed bool, err error) {
	cmd := exec.CommandContext(ctx, binary, "-test.run", pattern, "-test.count=1", "-test.timeout", patience)
	cmd.Dir = filepath.Join(w.root, filepath.FromSlash(pkg))
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isSoak), "RAPID_NOFAILFILE=1", "RAPID_SEED=1")
	out, err := cmd.CombinedOutput()
	if err == nil && strings.Contains(string(out), "no tests to run") {
		return "", false, fmt.Errorf("%s has no test %s: bring the table up to date", pkg, pattern)
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed && ctx.Err() == nil {
		return string(out), false, nil
	}
	return string(out), err == nil, err
}

// isSoak keeps long tests short.
func isSoak(variable string) bool { return strings.HasPrefix(variable, "LOCKSIM_SOAK=") }

// overlay writes the mutant's file, and the description of it that -overlay takes.
func (w workshop) overlay(m mutant, source string) (string, error) {
	mutated := filepath.Join(w.dir, m.name+filepath.Ext(m.file))
	if err := os.WriteFile(mutated, []byte(source), 0o600); err != nil {
		return "", err
	}
	original := filepath.Join(w.root, filepath.FromSlash(m.file))
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(w.dir, m.name+".json")
	return name, os.WriteFile(name, text, 0o600)
}

// try plants a mutant and runs its test. An error is about the tool or the
// machine, never about the mutant.
func (w workshop) try(ctx context.Context, m mutant) (result, error) {
	source, err := m.source(w.root)
	if err != nil {
		return result{mutant: m, fate: stale, detail: err.Error()}, nil
	}
	overlay, err := w.overlay(m, source)
	if err != nil {
		return result{}, fmt.Errorf("mutant %s: %w", m.name, err)
	}
	binary, output, err := w.build(ctx, m.name, m.pkg, overlay)
	defer os.Remove(binary) //nolint:errcheck // the whole directory is removed in the end
	if err != nil {
		return result{mutant: m, fate: invalid, detail: output}, ctx.Err()
	}
	_, passed, err := w.run(ctx, binary, m.pkg, m.pattern())
	switch {
	case err != nil:
		return result{}, fmt.Errorf("mutant %s: %w", m.name, err)
	case passed:
		return result{mutant: m, fate: survived, detail: m.test + " passes with it"}, nil
	}
	return result{mutant: m, fate: killed}, nil
}

// sound checks that the named tests of each package pass without a mutant.
func (w workshop) sound(ctx context.Context, mutants []mutant) error {
	tests := map[string][]string{}
	var pkgs []string
	for _, m := range mutants {
		if tests[m.pkg] == nil {
			pkgs = append(pkgs, m.pkg)
		}
		tests[m.pkg] = append(tests[m.pkg], "^"+strings.Split(m.test, "/")[0]+"$")
	}
	for i, pkg := range pkgs {
		binary, output, err := w.build(ctx, fmt.Sprintf("sound-%d", i), pkg, "")
		if err != nil {
			return fmt.Errorf("%s does not compile without a mutant:\n%s", pkg, output)
		}
		names := slices.Compact(slices.Sorted(slices.Values(tests[pkg])))
		output, passed, err := w.run(ctx, binary, pkg, strings.Join(names, "|"))
		if err != nil {
			return err
		}
		if !passed {
			return fmt.Errorf("tests of %s fail without a mutant:\n%s", pkg, output)
		}
	}
	return nil
}
