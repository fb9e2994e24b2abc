//go:build linux

package live

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math/rand/v2"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
)

// The requests of the parent to the process of a client, each with its body and its answer.
const (
	askHello    = "hello"    // hello → nothing
	askLocker   = "locker"   // newLocker → lockerInfo
	askAs       = "as"       // asOwner → lockerInfo
	askAcquire  = "acquire"  // acquire → leaseInfo
	endAcquire  = "acquired" // leaseCall, without an answer: the context of the Acquire that was granted has ended
	askRelease  = "release"  // leaseCall → nothing
	askExtend   = "extend"   // leaseCall → nothing
	askUntil    = "until"    // leaseCall → until
	askSleep    = "sleep"    // sleep → nothing
	askStore    = "store"    // storeCall → storeAnswer
	askOpenData = "data"     // newLocker with a mode → dataInfo
	askWithin   = "within"   // within → dataInfo
	askClock    = "clock"    // reading → nothing
	askTable    = "table"    // table → nothing
	askExhaust  = "exhaust"  // sleep → exhausted: the pools are taken until the request is cancelled
	askClose    = "close"    // nothing → nothing: closes what the lock has opened
	askPoint    = "point"    // of the client to its parent: point → nothing
	tellLost    = "lost"     // a notice of the client: lease → a lease is lost
	tellContext = "context"  // a notice of the client: contextEnded
	tellUntil   = "moved"    // a notice of the client: until
	tellWall    = "wall"     // a notice of the client: it has read its wall clock
	tellTaken   = "pooltake" // a notice of the client: the pools are taken
)

// hello is what a process has to know before it does anything.
type hello struct {
	Name, Lock  string
	Incarnation int
	Seed        uint64
	Spec        file.LockSpec
	Clock       reading
	Table       table
}

// table says where the servers are for a client.
type table struct {
	// Version grows from table to table: they may arrive in another order.
	Version int
	// Address is the address of each server by its name, which a lock is given.
	Address map[string]string
	// Dial is where the client reaches each server at present: the address of a proxy.
	Dial map[string]string
	// Waits are the servers that the client is cut off from, or whose power has failed: a dial of them waits.
	Waits map[string]bool
	// Told are the servers by the addresses that Sentinels, or the nodes of a Redis Cluster, tell of them.
	Told map[string]string
}

type newLocker struct {
	Identity string
	Mode     fence.Mode
}

// lockerInfo is a lock of the process, with its abilities.
type lockerInfo struct {
	ID           int
	Tries, Owned bool
}

type asOwner struct {
	Locker int
	Owner  string
}

// deadline is the deadline of a context, as an instant of the machine; 0 is for none.
type deadline int64

type acquire struct {
	Locker   int
	Resource string
	Try      bool
	Deadline deadline
}

// leaseInfo is a lease of the process. Until is by the clock of the client; 0 is for the zero time.
type leaseInfo struct {
	ID         int
	Token      uint64
	Until      int64
	Extends    bool
	Context    bool // it has a context
	Lost, Over bool // it is lost, or its context has ended, already
	LostBefore bool // its loss was known before the last answer came
}

type leaseCall struct {
	Lease    int
	Deadline deadline
}

type until struct {
	Lease int
	Until int64
}

type contextEnded struct {
	Lease int
	Cause *problem
}

type sleep struct {
	For      int64
	Deadline deadline
}

type storeCall struct {
	Data     int // 0 is the store s0
	Op       checker.Op
	Grant    string
	Deadline deadline
}

type storeAnswer struct {
	Saw     string
	Outcome checker.Outcome
}

type within struct{ Data, Lease int }

type dataInfo struct{ ID int }

type point struct{ Label string }

type exhausted struct{ Connections int }

// entropy is a source of random bytes of a client for one use.
func entropy(seed uint64, name string, incarnation int, use string) io.Reader {
	var key [32]byte
	r := rand.New(rand.NewPCG(seed, hashOf(name, incarnation, "entropy of "+use)))
	for i := range key {
		key[i] = byte(r.Uint32())
	}
	return rand.NewChaCha8(key)
}

func hashOf(name string, incarnation int, use string) uint64 {
	h := fnv.New64a()
	b, _ := json.Marshal([]any{name, incarnation, use}) // strings and a number
	_, _ = h.Write(b)
	return h.Sum64()
}
