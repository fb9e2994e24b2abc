package overlay

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Copy copies a Go into a folder within dir, once, and returns the copy. Go builds with an overlay if the copy is the
// first Go in the PATH: it is the version that was asked for, so nothing leads back to the module cache.
func Copy(dir string, t Toolchain) (Toolchain, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return t, err
	}
	to := t
	to.GOROOT = filepath.Join(dir, t.GOVERSION+"."+runtime.GOOS+"-"+runtime.GOARCH)
	if _, err := os.Stat(to.GOROOT); err == nil {
		return to, nil
	}
	// Another process may copy it at the same time: the first complete copy counts.
	part, err := os.MkdirTemp(dir, ".new-*")
	if err != nil {
		return t, err
	}
	defer func() { _ = os.RemoveAll(part) }()
	if err := copyTree(part, t.GOROOT); err != nil {
		return t, err
	}
	if err := os.Chmod(part, 0o755); err != nil {
		return t, err
	}
	if err := os.Rename(part, to.GOROOT); err != nil {
		if _, there := os.Stat(to.GOROOT); there != nil {
			return t, err
		}
	}
	return to, nil
}

// copyTree copies the files of a folder into another one. A Go has 250 MB: files are linked where the system allows it,
// and nobody writes to those of the module cache.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if os.Link(path, target) == nil {
			return nil
		}
		return copyFile(target, path, d)
	})
}

func copyFile(to, from string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it is only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
