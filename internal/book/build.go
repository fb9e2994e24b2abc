package book

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Builder builds programs in Dir, each once however many ask for it, and one at a time, since a build uses all
// processors. Its methods are safe for concurrent use.
type Builder struct {
	Dir string
	// Commits says that results of the programs are stored, so that each program gets its commit. It takes git.
	Commits bool

	mu      sync.Mutex
	overlay string // the flag of the build overlay; "" until it is needed
	built   map[string]*built
	took    time.Duration
}

type built struct {
	program *Program
	err     error
}

// Program is a program that was built.
type Program struct {
	File string
	// Commit is the state of the checkout from which it was built, as [Checkout.State] has it; "" if it was not asked for.
	Commit string

	took atomic.Int64
}

// Took is the CPU time that the program took to build, the first time it is asked, and 0 after that: one of the results
// of the program has it.
func (p *Program) Took() time.Duration { return time.Duration(p.took.Swap(0)) }

// Build says how a program is built.
type Build struct {
	// Folder is the one in which go runs; "" is for the working folder. Target is the package, Flags are those of go
	// build.
	Folder, Target string
	Flags          []string
	// Overlay says that the program is built with the overlay of locksim.
	Overlay bool
	// Built is called after it, before the next build begins. It may be nil.
	Built func() error
}

// Program is the program with a name. Where it was not built yet, how says how, given the name of its file. A build
// that failed is not tried again.
func (b *Builder) Program(name string, how func(file string) (Build, error)) (*Program, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.built[name]; ok {
		return old.program, old.err
	}
	p, err := b.build(name, how)
	if err != nil {
		p, err = nil, fmt.Errorf("build %s: %w", name, err)
	}
	if b.built == nil {
		b.built = map[string]*built{}
	}
	b.built[name] = &built{p, err}
	return p, err
}

func (b *Builder) build(name string, how func(file string) (Build, error)) (*Program, error) {
	file, err := filepath.Abs(filepath.Join(b.Dir, name))
	if err != nil {
		return nil, err
	}
	p := &Program{File: file}
	if b.Commits {
		now, err := ThisCheckout()
		if err != nil {
			return nil, err
		}
		p.Commit = now.State
	}
	is, err := how(file)
	if err != nil {
		return nil, err
	}
	args := append([]string{"build"}, is.Flags...)
	if is.Overlay {
		if b.overlay == "" {
			text, _, err := Output(exec.Command("go", "tool", "locksim", "overlay"))
			if err != nil {
				return nil, err
			}
			b.overlay = strings.TrimSpace(string(text))
		}
		args = append(args, b.overlay)
	}
	cmd := exec.Command("go", append(args, "-o", file, is.Target)...)
	cmd.Dir = is.Folder
	_, took, err := Output(cmd)
	p.took.Store(int64(took))
	b.took += took
	if err == nil && is.Built != nil {
		err = is.Built()
	}
	return p, err
}

// Took is the CPU time that all builds took.
func (b *Builder) Took() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.took
}
