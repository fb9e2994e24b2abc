package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// stored is a failure of some earlier test, in a file of its own.
type stored struct {
	path string
	file *play.RunFile
	// fixed says that it did not fail the last time.
	fixed bool
}

// fixedDir is the folder, below that of the failures, of those that no longer
// fail.
const fixedDir = "fixed"

// loadStored reads the failures of a lock that a folder holds, and those that no
// longer fail, in the order of their names. There need be no such folder. A file
// that is no stored run is an *InputError, whichever lock it may be about.
func loadStored(dir, lock string) ([]stored, error) {
	var all []stored
	for _, folder := range []string{dir, filepath.Join(dir, fixedDir)} {
		names, err := filepath.Glob(filepath.Join(escaped(folder), "*.json"))
		if err != nil {
			return nil, fmt.Errorf("look for stored failures in %s: %w", folder, err)
		}
		slices.Sort(names)
		for _, name := range names {
			f, err := readStored(name)
			if err != nil {
				return nil, err
			}
			if f.Lock == lock {
				all = append(all, stored{name, f, folder != dir})
			}
		}
	}
	return all, nil
}

// escaped is a folder's name for a pattern, in which it means itself.
func escaped(folder string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(folder)
}

func readStored(name string) (*play.RunFile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, &file.InputError{Pos: faults.Pos{File: name}, Msg: "this stored failure cannot be read: " + err.Error(), Err: err}
	}
	return play.ReadRunFile(name, data)
}

// store writes a failure into a folder, under a name that tells what it is. A
// failure that is there already is written again.
func store(dir string, f *search.Found) (path string, err error) {
	text, err := f.Run.JSON()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("store the failure: %w", err)
	}
	path = filepath.Join(dir, fileName(f))
	return path, replaceFile(path, text)
}

// replaceFile writes a file so that nobody ever reads half of it.
func replaceFile(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return fmt.Errorf("store the failure: %w", err)
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("store the failure: %w", errors.Join(err, os.Remove(temporary.Name())))
	}
	return nil
}

// fileName is the lock, what it did, what struck it, and eight digits that tell
// this schedule and seed from others.
func fileName(f *search.Found) string {
	words := []string{f.Lock}
	if len(f.Violations) > 0 {
		words = append(words, string(f.Violations[0].Label))
	}
	var kinds []string
	for _, fault := range f.Outcome.Scenario.Faults {
		kinds = append(kinds, fault.Action.Kind())
	}
	slices.Sort(kinds)
	words = append(words, slices.Compact(kinds)...)
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s", f.Seed, f.Run.Source))
	const most = 80 // characters; file systems take 255 bytes
	name := slug(strings.Join(words, "-"))
	return strings.TrimRight(name[:min(len(name), most)], "-") + "-" + hex.EncodeToString(sum[:4]) + ".json"
}

// slug keeps what is safe in the name of a file anywhere.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, text)
}

// retire moves a failure that no longer fails to those that are watched
// silently, and returns its new place.
func (s stored) retire() (string, error) {
	folder := filepath.Join(filepath.Dir(s.path), fixedDir)
	to := filepath.Join(folder, filepath.Base(s.path))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	err := os.Rename(s.path, to)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // another test of the same lock was quicker
	}
	return to, err
}

// relapse moves a failure that fails again back to the others.
func (s stored) relapse() (string, error) {
	to := filepath.Join(filepath.Dir(filepath.Dir(s.path)), filepath.Base(s.path))
	return to, os.Rename(s.path, to)
}
