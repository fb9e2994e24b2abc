// Package outfile writes files into folders, all of them or none.
package outfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"locksim/cmd/locksim/internal/console"
)

// Document is a file to be written.
type Document struct {
	// Name is the path of the file in its folder, with slashes.
	Name string
	// Data is its content.
	Data []byte
}

// Folder writes files into a directory: all of them, or none. It is for one goroutine.
type Folder struct {
	dir   string
	temp  string // a directory in dir, which has the files until all are complete
	names []string
}

// tempPattern matches the names of these temporary directories.
const tempPattern = ".new-*"

// Open makes a temporary directory for files in a directory that exists. Close removes it.
func Open(dir string) (*Folder, error) {
	temp, err := os.MkdirTemp(dir, tempPattern)
	if err != nil {
		return nil, err
	}
	return &Folder{dir: dir, temp: temp}, nil
}

// Add writes a file, whose name may have slashes.
func (f *Folder) Add(name string, data []byte) error {
	file := filepath.Join(f.temp, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f.names = append(f.names, name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(f.dir, name), err)
	}
	return nil
}

// Move moves all files into the directory, in the order in which they were added. It
// replaces files of the same names, and leaves others.
func (f *Folder) Move() error {
	for _, name := range f.names {
		to := filepath.Join(f.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(f.temp, filepath.FromSlash(name)), to); err != nil {
			return fmt.Errorf("move %s into its folder: %w", name, err)
		}
	}
	return nil
}

// Close removes the temporary directory and the files that were not moved. A directory
// that cannot be removed does no harm: its name is hidden, and readers ignore it.
func (f *Folder) Close() { _ = os.RemoveAll(f.temp) }

// RemoveLeftovers removes the temporary directories of commands that were killed while
// they wrote.
func RemoveLeftovers(dir string) error {
	all, err := os.ReadDir(dir)
	for _, d := range all {
		if left, _ := filepath.Match(tempPattern, d.Name()); left {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, d.Name())))
		}
	}
	return err
}

// WriteAll writes files into a folder, all of them or none.
func WriteAll(dir string, files []Document) error {
	to, err := Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	defer to.Close()
	for _, f := range files {
		if err := to.Add(f.Name, f.Data); err != nil {
			return err
		}
	}
	return to.Move()
}

// Save writes the output of render into a file, all of it or nothing.
func Save(name string, render func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	return WriteAll(filepath.Dir(name), []Document{{filepath.Base(name), b.Bytes()}})
}

// PrepareFolder makes the folder of a flag, before anything is run. A folder that cannot
// be made or written to is an error of usage.
func PrepareFolder(flag, dir string) error {
	if dir == "" {
		return nil
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = checkWritable(dir)
	}
	if err != nil {
		return fmt.Errorf("--%s %s: %w: give a folder that can be written to", flag, console.Quote(dir), err)
	}
	return nil
}

// PrepareFile checks, before anything is run, that a file can be written. One that
// cannot be written is an error of usage.
func PrepareFile(flag, name string) error {
	if name == "" {
		return nil
	}
	err := checkWritable(filepath.Dir(name))
	if info, statErr := os.Stat(name); err == nil && statErr == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", console.Quote(name))
	}
	if err != nil {
		return fmt.Errorf("--%s %s: %w: give a file in a folder that can be written to", flag, console.Quote(name), err)
	}
	return nil
}

// checkWritable returns an error where files cannot be written into a folder.
func checkWritable(dir string) error {
	f, err := Open(dir)
	if err != nil {
		return err
	}
	err = f.Add("file", nil)
	f.Close()
	return err
}
