//go:build !unix

package child

import "os"

// apart is the standard output.
func apart(stdout *os.File) *os.File { return stdout }
