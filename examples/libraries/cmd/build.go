package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"locksim/examples/libraries"
)

// folders are the libraries: each folder with a program, but this one.
func folders() ([]string, error) {
	mains, err := filepath.Glob("*/*.go")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, file := range mains {
		name := filepath.Dir(file)
		if name != "cmd" && !strings.HasSuffix(file, "_test.go") && (len(out) == 0 || out[len(out)-1] != name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// builder builds the programs of libraries.
type builder struct {
	dir string

	mu      sync.Mutex // one build at a time: each uses all processors
	overlay string     // the flag of the build overlay; "" until it is needed
}

// build returns the program of a library.
func (b *builder) build(name string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	program, err := filepath.Abs(filepath.Join(b.dir, name))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	// without the tables for a debugger it links faster
	args := []string{"-C", ".", "build", "-buildvcs=false", "-ldflags=-w", "-o", program}
	needed, err := overlaid(name)
	if err != nil {
		return "", err
	}
	if needed {
		if b.overlay == "" {
			text, _, err := command("go", "tool", "locksim", "overlay")
			if err != nil {
				return "", err
			}
			b.overlay = strings.TrimSpace(string(text))
		}
		args = append(args, b.overlay)
	}
	target := "./" + name
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil { // it needs other versions than the rest
		args[1], target = name, "."
	}
	_, _, err = command("go", append(args, target)...)
	return program, err
}

// overlaid reports whether the program of a library has to be built with the overlay: whether its Library says so.
func overlaid(name string) (needed bool, err error) {
	files, err := filepath.Glob(name + "/*.go")
	if err != nil {
		return false, err
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return false, err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if pair, ok := n.(*ast.KeyValueExpr); ok {
				key, isKey := pair.Key.(*ast.Ident)
				value, isValue := pair.Value.(*ast.Ident)
				needed = needed || isKey && isValue && key.Name == "Overlay" && value.Name == "true"
			}
			return true
		})
	}
	return needed, nil
}

// sheet is what a program says of its library.
func (b *builder) sheet(program string) (s libraries.Sheet, err error) {
	text, _, err := command(program, "-sheet")
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// cell plays a cell. A program that ends in a panic is what the runs have shown, and no error.
func (b *builder) cell(program, lock, trouble string, runs int, seed uint64) (c played, err error) {
	began := time.Now()
	text, cpu, err := command(program, "-cell", trouble, "-lock", lock, "-runs", strconv.Itoa(runs), "-seed",
		strconv.FormatUint(seed, 10))
	c.CPU, c.Wall = cpu.Round(100*time.Millisecond).Seconds(), time.Since(began).Round(100*time.Millisecond).Seconds()
	if err != nil {
		c.Cell = libraries.Cell{Lock: lock, Trouble: trouble,
			Shares: []libraries.Share{{Promised: true, NoVerdict: err.Error()}}}
		return c, nil //nolint:nilerr // it is in the cell
	}
	if err := json.Unmarshal(text, &c.Cell); err != nil {
		return c, err
	}
	for _, s := range c.Shares {
		if s.Frozen > 0 && (runs == 0 || s.Frozen < runs) {
			c, err := b.cell(program, lock, trouble, s.Frozen, seed) // those before it, of each class as many
			c.Note = fmt.Sprintf("The schedules before seed %d alone, of each class: with %s that run did not end, since code "+
				"held a mutex while it waited for the network, and virtual time stands still for a mutex.", seed+uint64(s.Frozen),
				names(s.Faults))
			return c, err
		}
	}
	return c, nil
}

// played is a cell, with the seconds that it took.
type played struct {
	libraries.Cell
	CPU, Wall float64
	// Note says why there are fewer runs; "" if there are not.
	Note string `json:",omitempty"`
}

// command runs a program and returns what it prints, also where it fails, and the CPU time that it took.
func command(name string, args ...string) ([]byte, time.Duration, error) {
	cmd := exec.Command(name, args...)
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return nil, 0, err
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		return out.Bytes(), cpu, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, diagnostics.String())
	}
	return out.Bytes(), cpu, nil
}
