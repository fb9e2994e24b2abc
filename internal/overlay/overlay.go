// Package overlay makes a build overlay of the standard library: a few files that Go
// compiles in place of its own, for one build, by its flag -overlay. With it,
// unmodified code lives in a simulated world:
//
//   - time.Now, timers and contexts go by the clocks of the process whose goroutine asks;
//   - net.Dialer leads into the world, and a real socket is an error;
//   - math/rand, math/rand/v2 and crypto/rand are seeded, for each process by itself.
//
// The files are made from those of the user's own Go: see [Make]. They only add places
// that package sim fills while a world runs. Everything else in such a program behaves as
// ever.
package overlay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed std
var std embed.FS

// ErrUnfit is returned for a Go whose standard library is not as the overlay expects.
var ErrUnfit = errors.New("the overlay does not fit this version of Go")

// ErrCached is returned for a Go in the module cache: go build refuses to replace files there. See [Copy].
var ErrCached = errors.New("go build replaces no files in the module cache")

// Toolchain is an installed Go.
type Toolchain struct {
	GOROOT     string
	GOVERSION  string // such as go1.26.8
	GOMODCACHE string
}

// Cached reports whether this Go is in the module cache, as one is that was fetched since a go.mod or GOTOOLCHAIN
// asks for it.
func (t Toolchain) Cached() bool {
	within, err := filepath.Rel(t.GOMODCACHE, t.GOROOT)
	return t.GOMODCACHE != "" && err == nil && filepath.IsLocal(within)
}

// Find asks the go command in the PATH, in the present folder.
func Find(ctx context.Context) (Toolchain, error) {
	var t Toolchain
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOVERSION", "GOMODCACHE").Output()
	if err == nil {
		err = json.Unmarshal(out, &t)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return t, fmt.Errorf("ask go for its version: %w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if errors.Is(err, exec.ErrNotFound) {
		return t, fmt.Errorf("ask go for its version: %w: the overlay is made from an installed Go: install one, and put "+
			"it into PATH", err)
	}
	if err != nil {
		return t, fmt.Errorf("ask go for its version: %w", err)
	}
	return t, nil
}

// Make writes the files of the overlay into a folder within dir, whose name depends on
// their content, and returns the path of the file for Go's flag -overlay. It returns
// [ErrUnfit] if a file of this Go lacks what is to be changed, and [ErrCached] for a Go in the module cache.
func Make(dir string, t Toolchain) (string, error) {
	if t.Cached() {
		return "", fmt.Errorf("%w, and %s is there, in %s", ErrCached, t.GOVERSION, t.GOROOT)
	}
	src := filepath.Join(t.GOROOT, "src")
	files, err := patched(src)
	if err != nil {
		return "", fmt.Errorf("%w, %s: %w", ErrUnfit, t.GOVERSION, err)
	}
	names := slices.Sorted(maps.Keys(files))
	content := []byte(src)
	for _, name := range names {
		content = append(fmt.Appendf(content, "\n%s %d\n", name, len(files[name])), files[name]...)
	}
	sum := sha256.Sum256(content)
	if dir, err = filepath.Abs(filepath.Join(dir, fmt.Sprintf("%s-%x", t.GOVERSION, sum[:6]))); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		replace[filepath.Join(src, filepath.FromSlash(name))] = path
		if err := write(path, files[name]); err != nil {
			return "", err
		}
	}
	list, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, write(path, append(list, '\n'))
}

// patched are the contents of the overlay's files, by their paths in GOROOT/src.
func patched(src string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range edits {
		text := files[e.file]
		if text == nil {
			var err error
			if text, err = os.ReadFile(filepath.Join(src, filepath.FromSlash(e.file))); err != nil {
				return nil, err
			}
		}
		if n := bytes.Count(text, []byte(e.old)); n != 1 {
			return nil, fmt.Errorf("%s has %d times, and not once: %q", e.file, n, strings.TrimSpace(e.old))
		}
		files[e.file] = bytes.Replace(text, []byte(e.old), []byte(e.new), 1)
	}
	for name, from := range additions {
		text, err := std.ReadFile(from)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	return files, nil
}

// write writes a file that is not there yet with this content. The others are left as they
// are, since Go compares their times.
func write(path string, content []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
