package main

import (
	"bytes"
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
	"sync"
	"time"

	"locksim/examples/groundtruth"
)

// builder builds the program of an adapter with one version of the module of a bug.
type builder struct {
	dir string // for what it makes

	mu sync.Mutex // one build at a time: each uses all processors
	// overlay is the flag of the build overlay; "" until it is needed.
	overlay string
	// took are the CPU times of the builds that tookToBuild has not told yet, by program.
	took map[string]time.Duration
}

// tookToBuild is the CPU time that a program took to build, once; 0 after that.
func (b *builder) tookToBuild(program string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer delete(b.took, program)
	return b.took[program]
}

// build returns the program. The go.mod of the module is used with that version in place of the one that it requires,
// so that neither the other adapters nor locksim can raise it.
func (b *builder) build(bug groundtruth.Bug, version string) (program string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bug = bug.At(version)
	program = filepath.Join(b.dir, bug.Adapter+"-"+version)
	if bug.Overlay {
		program += "-overlay"
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	replaced := bug.With
	switch {
	case bug.Over != nil:
		folder, err := over(bug, version)
		if err != nil {
			return "", err
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
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	old, err := os.ReadFile("versions.sum")
	if err != nil {
		return "", err
	}
	name := filepath.Join(b.dir, filepath.Base(program))
	if err := errors.Join(os.WriteFile(name+".mod", mod, 0o644), os.WriteFile(name+".sum", append(sum, old...),
		0o644)); err != nil {
		return "", err
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-mod=mod", "-modfile=" + name + ".mod", "-o", program}
	if bug.Overlay {
		if b.overlay == "" {
			text, _, err := command("go", "tool", "locksim", "overlay")
			if err != nil {
				return "", err
			}
			b.overlay = strings.TrimSpace(text)
		}
		args = append(args, b.overlay)
	}
	target := "./" + bug.Adapter
	if bug.Apart {
		target += "/main.go"
	}
	_, took, err := command("go", append(args, target)...)
	if err != nil {
		return "", fmt.Errorf("build %s with %s %s: %w", bug.Adapter, bug.Module, version, err)
	}
	if err := addSums("versions.sum", string(sum)+string(old), name+".sum"); err != nil {
		return "", err
	}
	if b.took == nil {
		b.took = map[string]time.Duration{}
	}
	b.took[program] = took
	return program, nil
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

// command runs a program and returns what it prints, and the CPU time that it took.
func command(name string, args ...string) (string, time.Duration, error) {
	cmd := exec.Command(name, args...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	if err := cmd.Run(); err != nil {
		return "", 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, diagnostics.String())
	}
	return out.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
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
	for range 2 {
		if err := os.Remove(p.Answer); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return played{}, err
		}
		cmd := exec.Command(program, p.Flags()...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		said, failed := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			return played{}, failed
		}
		out.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		text, err := os.ReadFile(p.Answer)
		if errors.Is(err, fs.ErrNotExist) && cmd.ProcessState.ExitCode() == 2 {
			out.Text = string(said)
			continue
		}
		if err != nil {
			return played{}, fmt.Errorf("%s gave no answer: %w\n%s", program, failed, said)
		}
		if err := json.Unmarshal(text, &out.Answer); err != nil {
			return played{}, err
		}
		return out, nil
	}
	return played{}, fmt.Errorf("%s gave no answer:\n%s", program, out.Text)
}
