//go:build linux

package shim

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"locksim/internal/live/guard"
)

//go:embed source/common.c
var common []byte

// compiling is held while a library is made, which servers share.
var compiling sync.Mutex

// Compiler finds a C compiler. Its error is [ErrNoCompiler].
func Compiler() (string, error) {
	path, err := exec.LookPath("cc")
	if err != nil {
		return "", ErrNoCompiler
	}
	return path, nil
}

// File is the file by which a server has its clocks. Its bytes are what the part of that server reads and writes.
type File struct {
	*os.File
	library string
}

// New makes the library from the part of a kind of server, in the folder shared, unless it is there, and its file of
// this size, in the private folder dir of one server. The caller closes it. The error wraps [ErrNoCompiler] where there
// can be no library. It is safe for concurrent use.
func New(shared, dir string, part []byte, size int64) (*File, error) {
	library := filepath.Join(shared, "clock.so")
	if err := compile(library, part); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "clock"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &File{file, library}, errors.Join(guard.Own(file.Name()), file.Truncate(size))
}

func compile(library string, part []byte) error {
	compiling.Lock()
	defer compiling.Unlock()
	if _, err := os.Stat(library); err == nil {
		return nil
	}
	compiler, err := Compiler()
	if err != nil {
		return err
	}
	source := library + ".c"
	if err := os.WriteFile(source, slices.Concat(common, part), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(compiler, "-shared", "-fPIC", "-O2", "-Wall", "-o", library+".new", source)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the clocks of a server: %w\n%s", err, out)
	}
	return errors.Join(os.Chmod(library+".new", 0o644), os.Rename(library+".new", library))
}

// Env is the environment of a server with the clocks.
func (f *File) Env() []string {
	return []string{"LD_PRELOAD=" + f.library, "LOCKSIM_CLOCK=" + f.Name()}
}
