package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/internal/runfolder"
	"locksim/reports/html"
)

// resultFolder is the folder of a command's results.
type resultFolder struct {
	dir    string // "" for none
	listed bool   // an index lists it: it is the folder of --keep
	// flag is the beginning of an error about the folder, elsewhere the advice to choose
	// another.
	flag, elsewhere string
}

var errKeepAndOut = errors.New("--keep and --out: choose one; --keep takes a folder in " + runfolder.Default)

// newResultFolder is the folder of --out or, with --keep, a folder whose name has the
// parts about.
func newResultFolder(keep bool, out string, about ...string) resultFolder {
	if keep {
		return resultFolder{filepath.Join(filepath.FromSlash(runfolder.Default), runfolder.Name(about...)), true, "--keep: ", "remove that folder, or choose one with --out"}
	}
	return resultFolder{out, false, "--out " + console.Quote(out) + ": ", "give another folder"}
}

// list points the link "latest" to the folder of --keep and updates the index. The
// results must be in the folder.
func (k resultFolder) list(c *console.Console) error {
	if !k.listed {
		return nil
	}
	all := filepath.Dir(k.dir)
	if err := runfolder.PointLatest(all, filepath.Base(k.dir)); err != nil {
		c.Note(fmt.Sprintf("cannot make the link %s: %v", filepath.Join(all, runfolder.Latest), err))
	}
	page, err := indexOf(c, all)
	if err == nil {
		err = outfile.WriteAll(all, []outfile.Document{{Name: "index.html", Data: page}})
	}
	if err != nil {
		return &console.BrokenError{Cause: fmt.Errorf("write the index of %s: %w", all, err)}
	}
	c.Note("stored in " + k.dir + "; index of all: " + filepath.Join(all, "index.html"))
	return nil
}

// indexOf is the index of a folder as a page without ages and without updates, so that
// it depends on the folder alone.
func indexOf(c *console.Console, dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	return indexPage(c, &runfolder.Scanner{FS: root.FS()}, false)
}

// indexPage is the index of a folder as a page.
func indexPage(c *console.Console, scanner *runfolder.Scanner, live bool) ([]byte, error) {
	x, err := scanner.Index()
	if err != nil {
		return nil, err
	}
	x.Live, x.First = live, c.PublicName()+" run gc-pause --keep"
	var b bytes.Buffer
	err = html.Index(&b, x)
	return b.Bytes(), err
}
