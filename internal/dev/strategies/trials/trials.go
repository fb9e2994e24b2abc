// Package trials builds the program trial with a mistake in package lock, and lets it search the lock.
package trials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Trial is one search for a mistake, which ends with the first run that breaks the promise, or when its CPU time or its
// runs are over.
type Trial struct {
	Strategy string        `json:"strategy"`
	First    uint64        `json:"first"` // the seed of its first run
	Found    bool          `json:"found"`
	Runs     int           `json:"runs"`           // 0 for a lock that fails without faults, or ends the program
	CPU      time.Duration `json:"cpu"`            // in nanoseconds
	What     string        `json:"what,omitempty"` // the violation
}

// seed is that of the run that broke the promise.
func (t Trial) seed() uint64 { return t.First + uint64(t.Runs) - 1 }

// Plan is what is searched, and from where; the fields are the arguments of the program trial.
type Plan struct {
	Lock       string        `json:"lock"`
	Strategies []string      `json:"strategies"` // they take turns
	Firsts     []uint64      `json:"firsts"`     // the seeds with which the searches begin
	CPU        time.Duration `json:"cpu"`        // a search ends after so much
	Runs       int           `json:"runs"`       // or after so many runs
}

// Workshop builds programs in Dir from the checkout at Root. Its methods are safe for concurrent use.
type Workshop struct {
	Root, Dir string

	right sync.Once
	err   error // of building the program without a mistake
}

const (
	itsModule = "internal/dev"
	program   = "./strategies/trial"
	theRight  = "right"
)

// ErrFalseAlarm is that of a run that the lock without the mistake fails, too.
var ErrFalseAlarm = errors.New("the lock without the mistake fails in the same run: this is no find, but a false alarm")

// Search searches a lock with a mistake. overlay writes the overlay of the mistake into a folder and returns its name;
// nil is for a lock of the checkout. name is that of a folder in Dir that there is not. The seed of each find is played
// with the lock without the mistake, which must pass: else the error wraps [ErrFalseAlarm]. Where the find is a
// variation of another run, the lock without the mistake may vary another one.
func (w *Workshop) Search(ctx context.Context, name string, overlay func(root, dir string) (string, error),
	p Plan) ([]Trial, error) {
	dir := filepath.Join(w.Dir, name)
	if err := w.build(ctx, dir, overlay); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // 44 programs would take a gigabyte
	found, err := run(ctx, dir, p)
	if err != nil || overlay == nil {
		return found, err
	}
	w.right.Do(func() { w.err = w.build(ctx, filepath.Join(w.Dir, theRight), nil) })
	if w.err != nil {
		return nil, w.err
	}
	for _, t := range found {
		if !t.Found || t.Runs == 0 {
			continue
		}
		again, err := run(ctx, filepath.Join(w.Dir, theRight), Plan{p.Lock, []string{t.Strategy}, []uint64{t.seed()}, p.CPU,
			1})
		if err != nil {
			return nil, err
		}
		if again[0].Found {
			return nil, fmt.Errorf("%s, strategy %s, seed %d: %s: %w", p.Lock, t.Strategy, t.seed(), again[0].What,
				ErrFalseAlarm)
		}
	}
	return found, nil
}

func (w *Workshop) build(ctx context.Context, dir string, overlay func(root, dir string) (string, error)) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(dir, "trial")}
	if overlay != nil {
		file, err := overlay(w.Root, dir)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", file)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, program)...)
	cmd.Dir = filepath.Join(w.Root, itsModule)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build it: %w\n%s", err, out)
	}
	return nil
}

// run makes the searches of a plan with the program in a folder. A lock that ends the program, by a panic in a
// goroutine of its own, is found.
func run(ctx context.Context, dir string, p Plan) ([]Trial, error) {
	plan, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "trial"), string(plan))
	cmd.Env = append(os.Environ(), "GOGC=400", "GOMAXPROCS=1")
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		if what, ended := fatal(messages.String()); ended {
			return each(p, what), nil
		}
		return nil, fmt.Errorf("%w\n%s", err, strings.TrimSpace(messages.String()))
	}
	var all []Trial
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var t Trial
		if err := dec.Decode(&t); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
}

// fatal is with which words the runtime of Go ended a program, if it did.
func fatal(stderr string) (what string, ended bool) {
	for line := range strings.Lines(stderr) {
		for _, begins := range []string{"fatal error: ", "panic: "} {
			if text, is := strings.CutPrefix(line, begins); is {
				return "ends the program: " + strings.TrimSpace(text), true
			}
		}
	}
	return "", false
}

// each are all searches of a plan, in which the lock ended the program.
func each(p Plan, what string) (all []Trial) {
	for _, first := range p.Firsts {
		for _, s := range p.Strategies {
			all = append(all, Trial{Strategy: s, First: first, Found: true, What: what})
		}
	}
	return all
}
