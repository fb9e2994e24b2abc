package sim

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"locksim/faults"
)

// Written says how the test has written a file.
type written struct {
	name    string
	write   func(t *testing.T, path string)
	killed  string // what a crash of the process leaves; "-" for no file
	darkest string // what a loss of power leaves
}

var writtenFiles = []written{
	{"synced", func(t *testing.T, path string) {
		f := create(t, path, 0)
		put(t, f, "one")
		syncedFile(f)
	}, "one", "one"},
	{"not-synced", func(t *testing.T, path string) { put(t, create(t, path, 0), "one") }, "one", ""},
	{"synced-in-between", func(t *testing.T, path string) {
		f := create(t, path, 0)
		put(t, f, "one")
		syncedFile(f)
		put(t, f, "two")
	}, "onetwo", "one"},
	{"synced-twice", func(t *testing.T, path string) {
		f := create(t, path, 0)
		put(t, f, "one")
		syncedFile(f)
		put(t, f, "two")
		syncedFile(f)
	}, "onetwo", "onetwo"},
	{"through", func(t *testing.T, path string) {
		f := create(t, path, os.O_SYNC)
		put(t, f, "one")
		put(t, f, "two")
	}, "onetwo", "onetwo"},
	{"renamed", func(t *testing.T, path string) {
		f := create(t, path+".new", 0)
		put(t, f, "one")
		syncedFile(f)
		must(t, os.Rename(path+".new", path))
	}, "one", "one"},
	{"renamed-over", func(t *testing.T, path string) {
		f := create(t, path, 0)
		put(t, f, "one")
		syncedFile(f)
		put(t, create(t, path+".new", 0), "two")
		must(t, os.Rename(path+".new", path))
	}, "two", ""},
	{"renamed-before-sync", func(t *testing.T, path string) {
		f := create(t, path+".new", 0)
		put(t, f, "one")
		must(t, os.Rename(path+".new", path))
		syncedFile(f)
	}, "one", "one"},
	{"removed", func(t *testing.T, path string) {
		f := create(t, path, 0)
		put(t, f, "one")
		syncedFile(f)
		must(t, os.Remove(path))
		syncedFile(f)
	}, "-", "-"},
	{"made-anew", func(t *testing.T, path string) { // it may be the same inode
		f := create(t, path, 0)
		put(t, f, "one")
		syncedFile(f)
		must(t, f.Close())
		must(t, os.Remove(path))
		put(t, create(t, path, 0), "two")
	}, "two", ""},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create opens a file, as a program with the overlay does.
func create(t *testing.T, path string, flag int) *os.File {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o600)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	if flag&os.O_SYNC != 0 {
		openedToSync(f)
	}
	return f
}

func put(t *testing.T, f *os.File, text string) {
	t.Helper()
	_, err := f.WriteString(text)
	must(t, err)
	wroteFile(f)
}

// lives opens the disk and returns the contents of its files.
func lives(t *testing.T, d *Disk) (folder string, found map[string]string) {
	t.Helper()
	folder, err := d.Open()
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(d.Close(), os.RemoveAll(folder))) })
	found = map[string]string{}
	must(t, filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found[filepath.Base(path)] = string(b)
		return err
	}))
	return folder, found
}

// What is written outlives a process, and what is synchronised a loss of power.
func TestDiskKeeps(t *testing.T) {
	for _, power := range []bool{false, true} {
		d, want := &Disk{}, map[string]string{}
		folder, found := lives(t, d)
		if len(found) > 0 {
			t.Errorf("a new disk has %v", found)
		}
		for _, w := range writtenFiles {
			w.write(t, filepath.Join(folder, "in", w.name))
			left := w.killed
			if power {
				left = w.darkest
			}
			if left != "-" {
				want[w.name] = left
			}
		}
		must(t, d.crash(power))
		f := create(t, filepath.Join(folder, "in", "not-synced"), 0) // the code of a server that has ended still runs
		put(t, f, "late")
		syncedFile(f)
		if _, found := lives(t, d); !maps.Equal(found, want) {
			t.Errorf("power %v: %v, and not %v", power, found, want)
		}
		// What a disk has found at a start is on it.
		must(t, d.crash(true))
		if _, found := lives(t, d); !maps.Equal(found, want) {
			t.Errorf("power %v, and a loss of power: %v, and not %v", power, found, want)
		}
	}
}

// What was written long before is on the disk.
func TestDiskSettles(t *testing.T) {
	d := &Disk{}
	folder, _ := lives(t, d)
	f := create(t, filepath.Join(folder, "a"), 0)
	put(t, f, "one")
	must(t, d.Settle())
	put(t, f, "two")
	must(t, d.crash(true))
	if _, found := lives(t, d); found["a"] != "one" {
		t.Errorf("%q is left", found)
	}
	if want := "what was synchronised is kept: 3 of 6 bytes of its files"; d.Kept() != want {
		t.Errorf("it says %q", d.Kept())
	}
}

// A program that does not know what is on a disk says so.
func TestDiskNeedsTheOverlay(t *testing.T) {
	d := &Disk{}
	lives(t, d)
	if err := d.Crash(faults.CrashPower); errors.Is(err, ErrPower) == Overlaid() {
		t.Errorf("with the overlay %v: %v", Overlaid(), err)
	}
}
