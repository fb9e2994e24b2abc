//go:build !linux

package redisserver

import "os/exec"

// dieWithUs does nothing: this system cannot tie the life of a process to its parent's.
func dieWithUs(*exec.Cmd) {}
