package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"locksim/internal/runfolder"
	"locksim/reports/html"
)

// resultFolder is the folder of a command's results.
type resultFolder struct {
	dir    string // "" for nowhere
	listed bool   // it is one of those that are kept side by side
	// flag begins an error about the folder, elsewhere says how to choose another.
	flag, elsewhere string
}

// keepUsage is what --keep does, in the help of each command that has it.
const keepUsage = "as --out, into a folder of its own below " + runfolder.Default + ", with an index of all: see locksim serve"

var errKeepAndOut = errors.New("--keep and --out: choose one; --keep takes a folder below " + runfolder.Default)

// newResultFolder is where results go: into the folder of --out or, with --keep, into one
// that is called by what the results are about.
func newResultFolder(keep bool, out string, about ...string) resultFolder {
	if keep {
		return resultFolder{filepath.Join(filepath.FromSlash(runfolder.Default), runfolder.Name(about...)), true, "--keep: ", "remove that folder, or choose one with --out"}
	}
	return resultFolder{out, false, "--out " + quote(out) + ": ", "give another folder"}
}

// list makes the folder the latest of those that are kept, and writes their index
// anew. Its results are there already.
func (k resultFolder) list(s *shell) error {
	if !k.listed {
		return nil
	}
	all := filepath.Dir(k.dir)
	if err := runfolder.PointLatest(all, filepath.Base(k.dir)); err != nil {
		s.note(fmt.Sprintf("the link %s is not there: %v", filepath.Join(all, runfolder.Latest), err))
	}
	page, err := (serving{s}).indexOf(all)
	if err == nil {
		err = writeAll(all, []document{{"index.html", page}})
	}
	if err != nil {
		return &brokenError{cause: fmt.Errorf("write the index of %s: %w", all, err)}
	}
	s.note("kept in " + k.dir + "; all of them: " + filepath.Join(all, "index.html"))
	return nil
}

// indexOf is the index of a folder as a page, as it is anywhere and at any time.
func (s serving) indexOf(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	return s.indexPage(&runfolder.Scanner{FS: root.FS()}, false)
}

// indexPage is what a folder holds now, as a page.
func (s serving) indexPage(scanner *runfolder.Scanner, live bool) ([]byte, error) {
	x, err := scanner.Index()
	if err != nil {
		return nil, err
	}
	x.Live, x.First = live, s.publicName()+" run gc-pause --keep"
	var b bytes.Buffer
	err = html.Index(&b, x)
	return b.Bytes(), err
}
