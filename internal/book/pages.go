package book

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Publish writes pages, given by their names from a root, such as LIBRARIES.md and libraries/redsync.md. Folder is the
// one below the root that has pages of this book only: those that are no more are removed.
func Publish(root, folder string, pages map[string][]byte) error {
	if err := os.RemoveAll(filepath.Join(root, folder)); err != nil {
		return err
	}
	var failed []error
	for name, text := range pages {
		file := filepath.Join(root, filepath.FromSlash(name))
		failed = append(failed, os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644))
	}
	return errors.Join(failed...)
}

// Differ are the names of the pages that [Publish] would write otherwise than they are, or would remove.
func Differ(root, folder string, pages map[string][]byte) (names []string, err error) {
	for name, text := range pages {
		have, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(have, text) {
			names = append(names, name)
		}
	}
	err = fs.WalkDir(os.DirFS(filepath.Join(root, folder)), ".", func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && file == "." { // nothing was published
			return nil
		}
		name := path.Join(folder, file)
		if _, ok := pages[name]; err == nil && !d.IsDir() && !ok {
			names = append(names, name)
		}
		return err
	})
	slices.Sort(names)
	return names, err
}
