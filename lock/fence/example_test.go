package fence_test

import (
	"fmt"

	"locksim/lock/fence"
)

// A holder with token 33 reads and is paused until its lease has ended. The next holder, with token
// 34, has only read so far when the first one wakes up and writes.
func Example() {
	for _, mode := range fence.Modes() {
		var s fence.State
		s, _ = mode.Read(s, 33)
		s, _ = mode.Read(s, 34)
		_, err := mode.Write(s, 33)
		fmt.Printf("%s: %v\n", mode, err)
	}
	// Output:
	// none: <nil>
	// check: <nil>
	// seal: write with token 33 refused, token 34 was seen: stale fencing token
}
