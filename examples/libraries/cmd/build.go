package main

import (
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
	"time"

	"locksim/examples/libraries"
	"locksim/internal/book"
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

func build(b *book.Builder, name string) (*book.Program, error) {
	return b.Program(name, func(string) (is book.Build, err error) {
		// without the tables for a debugger it links faster
		is = book.Build{Target: "./" + name, Flags: []string{"-buildvcs=false", "-ldflags=-w"}}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil { // it needs other versions than the rest
			is.Folder, is.Target = name, "."
		}
		is.Overlay, err = overlaid(name)
		return is, err
	})
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

// askSheet is what a program says of its library.
func askSheet(program *book.Program) (s libraries.Sheet, err error) {
	_, err = book.Ask(&s, program.File, "-sheet")
	return s, err
}

// playCell plays a cell. A program that ends in a panic is what the runs have shown, and no error.
func playCell(program *book.Program, lock, trouble string, runs int, seed uint64) (c played, err error) {
	began := time.Now()
	text, cpu, err := book.Output(exec.Command(program.File, "-cell", trouble, "-lock", lock, "-runs", strconv.Itoa(runs),
		"-seed", strconv.FormatUint(seed, 10)))
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
			c, err := playCell(program, lock, trouble, s.Frozen, seed) // those before it, of each class as many
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
