// Measure counts what a codebase is made of, the same way for ours and for others: lines, files, packages, functions,
// types, interfaces and comments. docs/contributing/contributing.md says what the figures are for.
//
//	go -C internal/dev run ./measure [--worst N] [FOLDER...]
//
// Each folder is one codebase, with the modules in it; without one it is this checkout. Test data and generated files
// are left out. With --worst it prints the N first of each list besides: the longest
// functions, the largest method sets, structs and interfaces, the fullest packages. The exit code is 2 when a folder
// cannot be read, or a file in it is no Go.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"locksim/internal/dev/checkout"
)

func main() {
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	worst := flags.Int("worst", 0, "how many of the largest of each kind to name")
	err := flags.Parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		var text string
		if text, err = table(flags.Args(), *worst); err == nil {
			_, err = fmt.Print(text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(2)
	}
}

// table is the figures of these folders.
func table(folders []string, worst int) (string, error) {
	if len(folders) == 0 {
		root, err := checkout.Root()
		if err != nil {
			return "", err
		}
		folders = []string{root}
	}
	var all []*codebase
	for _, folder := range folders {
		c, err := read(folder)
		if err != nil {
			return "", err
		}
		all = append(all, c)
	}
	w := &strings.Builder{}
	for _, f := range figures {
		fmt.Fprintf(w, "%-52s", f.name)
		for _, c := range all {
			fmt.Fprintf(w, " %18s", f.of(c))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%-52s", "")
	for _, c := range all {
		fmt.Fprintf(w, " %18s", filepath.Base(c.folder))
	}
	fmt.Fprintln(w)
	for _, c := range all {
		c.printWorst(w, worst)
	}
	return w.String(), nil
}
