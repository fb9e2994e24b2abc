// Command etcd has the Mutex and the Election of etcd's package concurrency, as locksim comes with them.
package main

import (
	_ "embed"

	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

// What shows etcd-void also on real servers: the client that waits has had the lock under the same session, whose end is
// known therefore.
var (
	//go:embed void-mutex.yaml
	voidMutex string
	//go:embed void-election.yaml
	voidElection string
)

//go:embed stale-unlock.yaml
var staleUnlock string

func main() {
	libraries.Main(libraries.Library{
		Name: "etcd", Module: "go.etcd.io/etcd/client/v3", Source: "https://github.com/etcd-io/etcd/tree/main/client/v3/concurrency",
		Findings: []libraries.Finding{
			{
				ID:     "etcd-void",
				Status: libraries.NotKnown,
				Where:  "concurrency/mutex.go:97, election.go",
				What:   "A Lock or Campaign whose session ends while it waits can return as granted: it does not look whether its session is still there.",
				Draft:  "etcd-void.md",
				Shows:  []libraries.Shown{{Lock: "etcd-mutex", Source: voidMutex}, {Lock: "etcd-election", Source: voidElection}},
			},
			{
				ID:     "etcd-22082",
				Status: libraries.Known,
				Where:  "concurrency/mutex.go:134, 144",
				Link:   "https://github.com/etcd-io/etcd/issues/22082",
				Shows:  []libraries.Shown{{Lock: "etcd-mutex", Source: staleUnlock}},
				What:   "Mutexes of one session have one key. An Unlock that failed, and is called again later, deletes the key of the next Lock of the same client, which is not told.",
			},
			{
				ID:     "etcd-22123",
				Status: libraries.Known,
				Where:  "concurrency/election.go",
				Link:   "https://github.com/etcd-io/etcd/issues/22123",
				What:   "A leader that resigns and campaigns again under the same session can have its last revision again, so a token does not always rise.",
			},
		},
		Locks: []libraries.Lock{
			{
				Runs:    300,
				Lock:    promising(etcdlocks.Mutex(), glue.Session()),
				Why:     map[string][]string{"none": {"etcd-22082"}, "network": {"etcd-void"}},
				Options: "NewSession with a TTL of the scenario's length, which it renews by itself; NewMutex, Lock. Three servers.",
				Quote:   "Lock locks the mutex with a cancelable context. If the context is canceled while trying to acquire the lock, the mutex tries to clean its stale lock entry.",
				Where:   "doc comment of Mutex.Lock",
				Fence:   "The revision of its key (Header().Revision of the Txn, or CreateRevision): it grows from grant to grant.",
			},
			{
				Runs:    300,
				Lock:    promising(etcdlocks.Election(), unordered()),
				Why:     map[string][]string{"pause": {"etcd-void"}, "network": {"etcd-void"}, "server-crash": {"etcd-void"}},
				Options: "NewSession as for the Mutex; NewElection, Campaign, Resign.",
				Quote:   "Multiple sessions can participate in the election for the same prefix, but only one can be the leader at a time.",
				Where:   "doc comment of Election.Campaign",
				Fence:   "Rev(), the revision at which its key was made; a leader may have its last one again (etcd 22123).",
			},
		},
	})
}

func promising(l scenarios.Lock, p lock.Promise) scenarios.Lock {
	l.Promise = p
	return l
}

// unordered is the promise of an election: by etcd 22123 a leader may have its last token again.
func unordered() lock.Promise {
	p := glue.Session()
	p.TokensUnordered = true
	return p
}
