// Package shim preloads clocks into servers: a library in C, which another program sets through a file that both share.
// A kind of server brings the part of the library that says how its clocks go. It needs Linux.
package shim

import "errors"

// ErrNoCompiler is returned where a server is to have clocks of its own, and nothing can compile them.
var ErrNoCompiler = errors.New("a C compiler is missing: install Debian's gcc and libc6-dev")
