package publish

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

// Folder is the folder of a command's results.
type Folder struct {
	Dir    string // "" for none
	listed bool   // an index lists it: it is the folder of --keep
	// Flag is the beginning of an error about the folder, elsewhere the advice to choose
	// another.
	Flag, elsewhere string
}

// ErrKeepAndOut is returned where a command has both flags.
var ErrKeepAndOut = errors.New("--keep and --out: choose one; --keep takes a folder in " + runfolder.Default)

// NewFolder is the folder of --out or, with --keep, a folder whose name has the
// parts about.
func NewFolder(keep bool, out string, about ...string) Folder {
	if keep {
		dir := filepath.Join(filepath.FromSlash(runfolder.Default), runfolder.Name(about...))
		return Folder{dir, true, "--keep: ", "remove that folder, or choose one with --out"}
	}
	return Folder{out, false, "--out " + console.Quote(out) + ": ", "give another folder"}
}

// List points the link "latest" to the folder of --keep and updates the index. The
// results must be in the folder.
func (k Folder) List(c *console.Console) error {
	if !k.listed {
		return nil
	}
	all := filepath.Dir(k.Dir)
	if err := runfolder.PointLatest(all, filepath.Base(k.Dir)); err != nil {
		c.Note(fmt.Sprintf("cannot make the link %s: %v", filepath.Join(all, runfolder.Latest), err))
	}
	page, err := indexOf(c, all)
	if err == nil {
		err = outfile.WriteAll(all, []outfile.Document{{Name: "index.html", Data: page}})
	}
	if err != nil {
		return &console.BrokenError{Cause: fmt.Errorf("write the index of %s: %w", all, err)}
	}
	c.Note("stored in " + k.Dir + "; index of all: " + filepath.Join(all, "index.html"))
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
	return IndexPage(c, &runfolder.Scanner{FS: root.FS()}, false)
}

// IndexPage is the index of a folder as a page.
func IndexPage(c *console.Console, scanner *runfolder.Scanner, live bool) ([]byte, error) {
	x, err := scanner.Index()
	if err != nil {
		return nil, err
	}
	x.Live, x.First = live, c.PublicName()+" run gc-pause --keep"
	var b bytes.Buffer
	err = html.Index(&b, x)
	return b.Bytes(), err
}
