// Package outfile writes files into folders, all of them or none.
package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"locksim/cmd/locksim/internal/console"
)

// document is a file to be written.
type document struct {
	name string
	data []byte
}

// folder writes files into a directory: all of them, or none.
type folder struct {
	dir   string
	temp  string // a directory in dir, which has the files until all are complete
	names []string
}

// tempPattern matches the names of these temporary directories.
const tempPattern = ".new-*"

func openFolder(dir string) (*folder, error) {
	temp, err := os.MkdirTemp(dir, tempPattern)
	if err != nil {
		return nil, err
	}
	return &folder{dir: dir, temp: temp}, nil
}

// add writes a file, whose name may have slashes.
func (f *folder) add(name string, data []byte) error {
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

// move moves all files into the directory, in the order in which they were added. It
// replaces files of the same names, and leaves others.
func (f *folder) move() error {
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

// close removes the temporary directory and the files that were not moved. A directory
// that cannot be removed does no harm: its name is hidden, and readers ignore it.
func (f *folder) close() { _ = os.RemoveAll(f.temp) }

// removeLeftovers removes the temporary directories of commands that were killed while
// they wrote.
func removeLeftovers(dir string) error {
	all, err := os.ReadDir(dir)
	for _, d := range all {
		if left, _ := filepath.Match(tempPattern, d.Name()); left {
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

// saveFile writes the output of render into a file, all of it or nothing.
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

// prepareFolder makes the folder of --out, before anything is run. A folder that cannot
// be made or written to is an error of usage.
func prepareFolder(dir string) error {
	if dir == "" {
		return nil
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = checkWritable(dir)
	}
	if err != nil {
		return fmt.Errorf("--out %s: %w: give a folder that can be written to", console.Quote(dir), err)
	}
	return nil
}

// prepareFile checks, before anything is run, that a file can be written. One that
// cannot be written is an error of usage.
func prepareFile(flag, name string) error {
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
	f, err := openFolder(dir)
	if err != nil {
		return err
	}
	err = f.add("file", nil)
	f.close()
	return err
}
