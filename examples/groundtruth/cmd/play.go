package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"locksim/examples/groundtruth"
	"locksim/internal/book"
)

// builder builds the program of an adapter with one version of the module of a bug.
type builder struct{ *book.Builder }

// build returns the program. The go.mod of the module is used with that version in place of the one that it requires,
// so that neither the other adapters nor locksim can raise it.
func (b *builder) build(bug groundtruth.Bug, version string) (*book.Program, error) {
	bug = bug.At(version)
	name := bug.Adapter + "-" + version
	if bug.Overlay {
		name += "-overlay"
	}
	return b.Program(name, func(file string) (is book.Build, err error) {
		mod, err := moduleFile(bug, version)
		if err != nil {
			return is, err
		}
		sum, err := os.ReadFile("go.sum")
		if err != nil {
			return is, err
		}
		old, err := os.ReadFile("versions.sum")
		if err != nil {
			return is, err
		}
		known := slices.Concat(sum, old)
		err = errors.Join(os.WriteFile(file+".mod", mod, 0o644), os.WriteFile(file+".sum", known, 0o644))
		is = book.Build{Target: "./" + bug.Adapter, Overlay: bug.Overlay,
			Flags: []string{"-trimpath", "-buildvcs=false", "-mod=mod", "-modfile=" + file + ".mod"},
			Built: func() error { return addSums("versions.sum", string(known), file+".sum") }}
		if bug.Apart {
			is.Target += "/main.go"
		}
		return is, err
	})
}

// moduleFile is the go.mod for a version of the module of a bug.
func moduleFile(bug groundtruth.Bug, version string) ([]byte, error) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return nil, err
	}
	replaced := bug.With
	switch {
	case bug.Over != nil:
		folder, err := over(bug, version)
		if err != nil {
			return nil, err
		}
		mod = fmt.Appendf(mod, "\nrequire %[1]s %[2]s\nreplace %[1]s => ./%[3]s\n", bug.Module, version, folder)
	case bug.Module != "":
		replaced = append([]string{fmt.Sprintf("%s => %[1]s %s", bug.Module, version)}, replaced...)
	}
	for _, line := range replaced {
		line = strings.ReplaceAll(line, "VERSION", version)
		if words := strings.Fields(line); bug.Apart {
			version := words[len(words)-1]
			if strings.HasPrefix(version, ".") { // a folder of this repository
				version = "v0.0.0"
			}
			mod = fmt.Appendf(mod, "\nrequire %s %s\n", words[0], version)
		}
		mod = fmt.Appendf(mod, "\nreplace %s\n", line)
	}
	return mod, nil
}

// addSums adds to a file the checksums that a build had to look up, since neither it nor go.sum has them: known.
func addSums(file, known, made string) error {
	text, err := os.ReadFile(made)
	if err != nil {
		return err
	}
	var added []string
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(known, line) {
			added = append(added, line)
		}
	}
	if len(added) == 0 {
		return nil
	}
	all, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := slices.Concat(slices.Collect(strings.Lines(string(all))), added)
	slices.Sort(lines)
	return os.WriteFile(file, []byte(strings.Join(lines, "")), 0o644)
}

// played is an answer with the CPU time that it took.
type played struct {
	groundtruth.Answer
	cpu time.Duration
}

// play runs a program once, and again if it ended in a panic: the next process of the same test then tells of it. What
// it makes is in a new folder below dir.
func play(program string, p groundtruth.Play, dir string) (played, error) {
	dir, err := os.MkdirTemp(dir, "play-")
	if err != nil {
		return played{}, err
	}
	p.Answer = filepath.Join(dir, "answer.json")
	p.Dir = cmp.Or(p.Dir, dir)
	var out played
	var ended error
	for range 2 {
		if err := os.Remove(p.Answer); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return played{}, err
		}
		cmd := exec.Command(program, p.Flags()...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		var cpu time.Duration
		_, cpu, ended = book.Output(cmd)
		out.cpu += cpu
		text, err := os.ReadFile(p.Answer)
		if errors.Is(err, fs.ErrNotExist) {
			if code, ok := errors.AsType[*exec.ExitError](ended); ok && code.ExitCode() == 2 {
				continue
			}
		}
		if err != nil {
			return played{}, fmt.Errorf("%s gave no answer: %w", program, cmp.Or(ended, err))
		}
		if err := json.Unmarshal(text, &out.Answer); err != nil {
			return played{}, err
		}
		return out, nil
	}
	return played{}, fmt.Errorf("%s gave no answer: %w", program, ended)
}
