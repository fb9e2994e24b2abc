//go:build !linux

package guard

import (
	"errors"
	"os"
	"os/exec"
)

// errLinux is the error of everything here.
var errLinux = errors.New("guards of processes need Linux")

// Guard is a process that outlives this one, of which there is none here.
type Guard struct{}

// Start returns an error.
func Start(string) (*Guard, error) { return nil, errLinux }

// Dir is empty.
func (*Guard) Dir() string { return "" }

// Register returns an error.
func (*Guard) Register(*os.Process) error { return errLinux }

// End does nothing.
func (*Guard) End() error { return nil }

// Kill returns an error.
func Kill(string) error { return errLinux }

// Stop returns an error.
func Stop(string) error { return errLinux }

// Continue returns an error.
func Continue(string) error { return errLinux }

// Exited is true.
func Exited(*os.Process) bool { return true }

// Prepare does nothing.
func Prepare(*exec.Cmd) {}

// Own returns an error.
func Own(string) error { return errLinux }
