package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// document is a file to be written.
type document struct {
	name string
	data []byte
}

// folder is a folder into which files are written: all of them, or none.
type folder struct {
	dir   string
	aside string // where they lie until all are complete: a folder in dir
	names []string
}

// asidePattern are the names of folders in which files lie until they are moved.
const asidePattern = ".new-*"

func openFolder(dir string) (*folder, error) {
	aside, err := os.MkdirTemp(dir, asidePattern)
	if err != nil {
		return nil, err
	}
	return &folder{dir: dir, aside: aside}, nil
}

// add writes a file, whose name may have slashes.
func (f *folder) add(name string, data []byte) error {
	file := filepath.Join(f.aside, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f.names = append(f.names, name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(f.dir, name), err)
	}
	return nil
}

// move moves all files into the folder, in their order. Those of the same names
// are replaced, and others left alone.
func (f *folder) move() error {
	for _, name := range f.names {
		to := filepath.Join(f.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(f.aside, filepath.FromSlash(name)), to); err != nil {
			return fmt.Errorf("move %s into its place: %w", name, err)
		}
	}
	return nil
}

// close removes what was not moved.
func (f *folder) close() { _ = os.RemoveAll(f.aside) } // what is left is in nobody's way

// tidy removes from a folder what a command has left that was killed while it
// wrote.
func tidy(dir string) error {
	all, err := os.ReadDir(dir)
	for _, d := range all {
		if left, _ := filepath.Match(asidePattern, d.Name()); left {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, d.Name())))
		}
	}
	return err
}

// writeAll writes files into a folder, all of them or none.
func writeAll(dir string, files []document) error {
	to, err := openFolder(filepath.Clean(dir))
	if err != nil {
		return err
	}
	defer to.close()
	for _, f := range files {
		if err := to.add(f.name, f.data); err != nil {
			return err
		}
	}
	return to.move()
}

// saveFile writes what render makes into a file, all of it or nothing.
func saveFile(name string, render func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	return writeAll(filepath.Dir(name), []document{{filepath.Base(name), b.Bytes()}})
}

// prepare makes a folder for files, before what they are about is run. A folder
// that cannot be is the user's to put right.
func prepare(dir string) error {
	if dir == "" {
		return nil
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = tryOut(dir)
	}
	if err != nil {
		return fmt.Errorf("--out %s: %w: give a folder that can be written to", quote(dir), err)
	}
	return nil
}

// prepareFile finds out, before anything is run, whether a file can be written. One
// that cannot be is the user's to put right.
func prepareFile(flag, name string) error {
	if name == "" {
		return nil
	}
	err := tryOut(filepath.Dir(name))
	if info, statErr := os.Stat(name); err == nil && statErr == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", quote(name))
	}
	if err != nil {
		return fmt.Errorf("--%s %s: %w: give a file in a folder that can be written to", flag, quote(name), err)
	}
	return nil
}

// tryOut finds out whether files can be written into a folder.
func tryOut(dir string) error {
	f, err := openFolder(dir)
	if err != nil {
		return err
	}
	err = f.add("file", nil)
	f.close()
	return err
}
