package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"locksim/examples/groundtruth"
)

// over makes a folder with the files of a module that a bug names, as they were published, and in place of the other
// packages of the module those of the adapter's folder over. Its path is relative, so that the program is the same
// wherever it is built.
func over(bug groundtruth.Bug, version string) (folder string, err error) {
	text, _, err := command("go", "-C", os.TempDir(), "mod", "download", "-json", bug.Module+"@"+version) // of no module
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(text), &module); err != nil {
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
	for _, name := range bug.Over {
		text, err := os.ReadFile(filepath.Join(module.Dir, name))
		if err != nil {
			return "", err
		}
		if err := put(name, text); err != nil {
			return "", err
		}
	}
	ours := filepath.Join(bug.Adapter, "over")
	err = filepath.WalkDir(ours, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(ours, path)
		return errors.Join(err, put(name, text))
	})
	return folder, errors.Join(err, put("go.mod", []byte("module "+bug.Module+"\n\ngo 1.26\n")))
}
