package child

import (
	"io"
	"os"
)

// Parent is the other end, in the child: what its parent says, and where it answers. From then on what the program
// prints on standard output goes to standard error, so that it cannot be taken for an answer.
func Parent() (in io.Reader, out io.Writer) {
	answers := apart(os.Stdout)
	os.Stdout = os.Stderr
	return os.Stdin, answers
}
