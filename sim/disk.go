package sim

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"locksim/faults"
)

// Disk is the disk of a server that keeps its data in real files, as one does that was not written for a simulated
// world. Each life of the server has a folder of its own, and begins with what the disk has.
//
// When the process crashes, all that it has written is kept: it is in the page cache of the machine, which does
// not end with a process. When the machine loses its power, a file has the content that it had when it was last
// synchronised: by (*os.File).Sync, or by a write to a file that was opened with O_SYNC. A file that never was is
// empty. Names are kept: a file that was made, renamed or removed stays so, also if nothing has synchronised its
// folder. Time alone writes nothing to the disk: a real system does after a while, usually half a minute, and
// promises nothing before a synchronisation.
//
// Only a program with the build overlay knows what was synchronised: see [Overlaid]. In any other one, a loss of
// power is an error, [ErrPower].
type Disk struct {
	mu      sync.Mutex
	folder  string // of the server that runs; "" between its lives
	files   map[string][]byte
	folders []string
	images  []image
	through map[*os.File]bool // files that were opened with O_SYNC
	kept    string
	err     error
}

// image is the content that a file had when it was last synchronised.
type image struct {
	info    os.FileInfo
	content []byte
	pin     *os.File // keeps a new file from being taken for this one when this one is removed
}

// ErrPower is returned for a loss of power in a program without the build overlay: it does not know what is on a disk.
var ErrPower = errors.New("this program does not know what a loss of power leaves in files, since it was built " +
	"without the build overlay: build it with: go build $(locksim overlay)")

// disks are those of the servers that run.
var disks struct {
	sync.RWMutex
	byFolder map[string]*Disk
}

// diskOf is the disk that has a file, nil for none.
func diskOf(path string) *Disk {
	disks.RLock()
	defer disks.RUnlock()
	for folder, d := range disks.byFolder {
		if rest, ok := strings.CutPrefix(path, folder); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
			return d
		}
	}
	return nil
}

// Open makes a folder with what the disk has, for a server that starts, and returns its path. The caller
// removes it when that server has ended.
func (d *Disk) Open() (string, error) {
	folder, err := os.MkdirTemp("", "locksim-disk-")
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return "", err
	}
	for _, name := range d.folders {
		err = errors.Join(err, os.MkdirAll(filepath.Join(folder, name), 0o700))
	}
	for name, content := range d.files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), content, 0o600))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(folder))
	}
	d.mu.Lock()
	d.folder, d.through = folder, map[*os.File]bool{}
	d.mu.Unlock()
	disks.Lock()
	if disks.byFolder == nil {
		disks.byFolder = map[string]*Disk{}
	}
	disks.byFolder[folder] = d
	disks.Unlock()
	return folder, d.Settle()
}

// Settle synchronises all that is in the folder: what was written long before a run is on the disk.
func (d *Disk) Settle() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.walk(func(_, path string, info os.FileInfo) error {
		if info.Mode().IsRegular() {
			return d.keep(path, info)
		}
		return nil
	})
}

// Crash ends the life of the server: the disk keeps what the mode leaves. Nothing is synchronised from now on,
// whatever the code of the server still does.
func (d *Disk) Crash(mode faults.CrashMode) error {
	power := mode == faults.CrashPower
	if power && !Overlaid() {
		return ErrPower
	}
	return d.crash(power)
}

func (d *Disk) crash(power bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files, d.folders = map[string][]byte{}, nil
	written, left, lost := 0, 0, 0
	err := d.walk(func(name, path string, info os.FileInfo) error {
		if info.IsDir() {
			d.folders = append(d.folders, name)
			return nil
		}
		content, err := os.ReadFile(path)
		was := content
		if power {
			content = d.imageOf(info)
		}
		if written, left = written+len(was), left+len(content); string(was) != string(content) {
			lost++
		}
		d.files[name] = content
		return err
	})
	if d.kept = "the files are kept"; lost > 0 {
		d.kept = fmt.Sprintf("what was synchronised is kept: %d of %d bytes of its files", left, written)
	}
	return cmp.Or(d.end(), err)
}

// Kept says what the last crash has left.
func (d *Disk) Kept() string { return d.kept }

// Close forgets the folder, at the end of a run. It may be called after a crash.
func (d *Disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.end()
}

// end forgets the folder. It returns what has failed on the way.
func (d *Disk) end() error {
	disks.Lock()
	maps.DeleteFunc(disks.byFolder, func(_ string, other *Disk) bool { return other == d })
	disks.Unlock()
	for _, i := range d.images {
		_ = i.pin.Close()
	}
	d.folder, d.images, d.through = "", nil, nil
	return d.err
}

// walk calls f with all that is in the folder, with its name there.
func (d *Disk) walk(f func(name, path string, info os.FileInfo) error) error {
	if d.folder == "" {
		return nil
	}
	return filepath.WalkDir(d.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == d.folder {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(d.folder, path)
		if err != nil {
			return err
		}
		return f(name, path, info)
	})
}

// imageOf is the content of a file when it was last synchronised.
func (d *Disk) imageOf(info os.FileInfo) []byte {
	if i := d.find(info); i >= 0 {
		return d.images[i].content
	}
	return nil
}

func (d *Disk) find(info os.FileInfo) int {
	return slices.IndexFunc(d.images, func(i image) bool { return os.SameFile(i.info, info) })
}

// keep remembers the content of a file. It may have been renamed since it was opened under this path, or removed:
// then nothing is left of it to remember.
func (d *Disk) keep(path string, info os.FileInfo) error {
	if now, err := os.Lstat(path); err != nil || !os.SameFile(now, info) {
		path = ""
		err := d.walk(func(_, p string, now os.FileInfo) error {
			if os.SameFile(now, info) {
				path = p
			}
			return nil
		})
		if err != nil || path == "" {
			return err
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if i := d.find(info); i >= 0 {
		d.images[i].content = content
		return nil
	}
	pin, err := os.Open(path)
	if err == nil {
		d.images = append(d.images, image{info, content, pin})
	}
	return err
}

// syncedFile synchronises a file of a disk. It reports false for any other file.
func syncedFile(f *os.File) bool {
	d := diskOf(f.Name())
	if d == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && d.folder != "" {
		err = d.keep(f.Name(), info)
	}
	d.err = cmp.Or(d.err, err)
	return true
}

// openedToSync notes a file that was opened with O_SYNC.
func openedToSync(f *os.File) {
	if d := diskOf(f.Name()); d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.through != nil {
			d.through[f] = true
		}
	}
}

// wroteFile synchronises a file that was opened with O_SYNC and was written to.
func wroteFile(f *os.File) {
	d := diskOf(f.Name())
	if d == nil {
		return
	}
	d.mu.Lock()
	through := d.through[f]
	d.mu.Unlock()
	if through {
		syncedFile(f)
	}
}
