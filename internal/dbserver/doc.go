// Package dbserver runs the process of a real database server in a private folder, as an unprivileged user, and ends it
// with this program.
package dbserver

import "errors"

// ErrExited is returned where a server has exited before it served: its address was taken, or its settings are wrong.
var ErrExited = errors.New("it has exited")
