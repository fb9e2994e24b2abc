package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"locksim/examples/groundtruth"
	"locksim/internal/book"
)

// over makes a folder with the files of a module that a bug names, as they were published, and in place of the other
// packages of the module those of the adapter's folder over. With [groundtruth.Whole] they are those of the whole
// module, and of the folder _over, which no pattern matches, since its files import what only the module may. The path
// is relative, so that the program is the same wherever it is built.
func over(bug groundtruth.Bug, version string) (folder string, err error) {
	download := exec.Command("go", "mod", "download", "-json", bug.Module+"@"+version)
	download.Dir = os.TempDir() // of no module
	text, _, err := book.Output(download)
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(text, &module); err != nil {
		return "", err
	}
	folder = filepath.Join("testdata", "over", strings.ReplaceAll(bug.Module, "/", "_")+"@"+version)
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	put := func(name string, text []byte) error {
		name = filepath.Join(folder, name)
		return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o644))
	}
	if slices.Equal(bug.Over, groundtruth.Whole) {
		return folder, errors.Join(copied(module.Dir, put), copied(filepath.Join(bug.Adapter, "_over"), put))
	}
	for _, name := range bug.Over {
		text, err := os.ReadFile(filepath.Join(module.Dir, name))
		if err != nil {
			return "", err
		}
		if err := put(name, text); err != nil {
			return "", err
		}
	}
	err = copied(filepath.Join(bug.Adapter, "over"), put)
	return folder, errors.Join(err, put("go.mod", []byte("module "+bug.Module+"\n\ngo 1.26\n")))
}

// copied puts what a build needs of the files below a folder, each under its name there: no tests.
func copied(from string, put func(name string, text []byte) error) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		return errors.Join(err, put(name, text))
	})
}
