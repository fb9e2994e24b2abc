//go:build !linux

package redisserver

import "os/exec"

// dieWithParent does nothing: this system cannot end a process together with its parent.
func dieWithParent(*exec.Cmd) {}
