package fence_test

import (
	"fmt"

	"locksim/lock/fence"
)

// A holder with token 33 reads and is paused until its lease has ended. The next holder, with token 34, has only read
// when the first one resumes and writes.
func Example() {
	first := fence.Op{Token: 33, Grant: "a"}
	next := fence.Op{Token: 34, Grant: "b"}
	for _, mode := range fence.Modes() {
		var s fence.State
		s, _ = mode.Read(s, first)
		s, _ = mode.Read(s, next)
		_, err := mode.Write(s, first)
		fmt.Printf("%s: %v\n", mode, err)
	}
	// Output:
	// none: <nil>
	// check: <nil>
	// seal: write with token 33 refused, token 34 was seen: stale operation
	// strict: write with token 33 refused, token 34 was seen: stale operation
	// claim: write of grant "a" refused, the claim is that of grant "b": stale operation
	// cas: <nil>
}

// The same first holder under CAS: there was no write since its read, so its write does no harm yet. CAS refuses the
// next holder, which may read again.
func Example_compareAndSet() {
	var s fence.State
	first := fence.Op{Version: s.Version} // the version that each of them read
	next := fence.Op{Version: s.Version}

	s, err := fence.CAS.Write(s, first)
	fmt.Println(err)
	s, err = fence.CAS.Write(s, next)
	fmt.Println(err)
	next.Version = s.Version
	_, err = fence.CAS.Write(s, next)
	fmt.Println(err)
	// Output:
	// <nil>
	// write based on version 0 refused, version 1 is there: stale operation
	// <nil>
}

// Two grants have the same token: the node of the counter lost its last write in a failover.
func Example_duplicateTokens() {
	before, after := fence.Op{Token: 33, Grant: "a"}, fence.Op{Token: 33, Grant: "b"}
	for _, mode := range []fence.Mode{fence.Seal, fence.Strict, fence.Claim} {
		var s fence.State
		s, _ = mode.Read(s, before)
		_, err := mode.Read(s, after)
		fmt.Printf("%s: %v\n", mode, err)
	}
	// Output:
	// seal: <nil>
	// strict: read with token 33 of grant "b" refused, grant "a" has sent the same token: stale operation
	// claim: <nil>
}
