// Command etcd has the Mutex and the Election of etcd's package concurrency, as locksim comes with them.
package main

import (
	_ "embed"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

// What shows etcd-void also on real servers: the client that waits has had the lock under the same session, whose end
// is known therefore.
var (
	//go:embed void-mutex.yaml
	voidMutex string
	//go:embed void-election.yaml
	voidElection string
)

//go:embed stale-unlock.yaml
var staleUnlock string

// oneServer says how the client reaches its servers.
const oneServer = "Other settings of the client: it has one of the servers at a time here (pick_first), and leaves " +
	"one that does not answer after a keep-alive of 10 s and 3 s more."

func main() {
	libraries.Main(libraries.Library{
		Name: "etcd", Module: "go.etcd.io/etcd/client/v3",
		Source: "https://github.com/etcd-io/etcd/tree/main/client/v3/concurrency",
		Findings: []libraries.Finding{
			{
				ID:     "etcd-void",
				Status: libraries.NotKnown,
				Where:  "concurrency/mutex.go:97",
				What: "A Lock whose session ends while it waits can return as granted: it looks whether its key is still " +
					"there, and not whether its session is.",
				Draft: "etcd-void.md",
				Shows: []libraries.Shown{{Lock: "etcd-mutex", Source: voidMutex}},
			},
			{
				ID:     "etcd-11007",
				Status: libraries.Known,
				Where:  "concurrency/election.go",
				Link:   "https://github.com/etcd-io/etcd/issues/11007",
				What: "A Campaign whose session ends while it waits can return as elected: it looks neither for its key nor " +
					"for its session.",
				Shows: []libraries.Shown{{Lock: "etcd-election", Source: voidElection}},
			},
			{
				ID:     "etcd-22082",
				Status: libraries.Known,
				Where:  "concurrency/mutex.go:134, 144",
				Link:   "https://github.com/etcd-io/etcd/issues/22082",
				Shows:  []libraries.Shown{{Lock: "etcd-mutex-misused", Source: staleUnlock}},
				What: "Mutexes of one session have one key. An Unlock that failed, and is called again later, deletes the key " +
					"of the next Lock of the same client, which is not told.",
			},
			{
				ID:     "etcd-22123",
				Status: libraries.Known,
				Where:  "concurrency/election.go",
				Link:   "https://github.com/etcd-io/etcd/issues/22123",
				What: "A leader that resigns and campaigns again under the same session can have its last revision again, so a " +
					"token does not always rise.",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock: promising(etcdlocks.TryLibrary("etcd-mutex", etcdlocks.NewSession, etcdlocks.NewMutex), glue.Session()),
				Is:   "a key of etcd in a queue, which lasts as long as a session, a lease that the client keeps alive.",
				Why:  map[string][]string{"network": {"etcd-void"}, "refusals": {"etcd-void"}, "misuse": {"etcd-22082"}},
				Misuse: "the context of Unlock has ended when it is called, or it is called again after it has failed, as on an " +
					"old Mutex",
				Options: "NewSession with a TTL of the scenario's length, which it renews by itself; NewMutex, Lock. Three " +
					"servers.",
				Says: []libraries.Sentence{
					{
						Text: "Lock locks the mutex with a cancelable context.", Where: "doc comment of Mutex.Lock",
						File:   "concurrency/mutex.go",
						Labels: append(libraries.Exclusion(), checker.Void),
					},
				},
				Untested: oneServer,
				Fence: "The revision of its key (Header().Revision of the Txn, or CreateRevision): it grows from grant to " +
					"grant.",
			},
			{
				Lock: promising(etcdlocks.Library("etcd-election", etcdlocks.NewSession, etcdlocks.NewElection), unordered()),
				Is:   "a key of etcd in a queue, which lasts as long as a session, a lease that the client keeps alive.",
				Why: map[string][]string{"pause": {"etcd-11007"}, "network": {"etcd-11007"}, "server-crash": {"etcd-11007"},
					"server-power": {"etcd-11007"}, "refusals": {"etcd-11007"}, "misuse": {"etcd-22123"}},
				Misuse:  "the context of Resign has ended when it is called, or it is called again after it has failed",
				Options: "NewSession as for the Mutex; NewElection, Campaign, Resign.",
				Says: []libraries.Sentence{{
					Text: "Multiple sessions can participate in the election for the same prefix, but only one can be the leader " +
						"at a time.",
					Where: "doc comment of Election.Campaign", File: "concurrency/election.go",
				}, {
					Text: "Otherwise, until the context is not cancelled or timed-out, Campaign will continue to be blocked until " +
						"it becomes the leader.",
					Where: "doc comment of Election.Campaign", File: "concurrency/election.go",
					Labels: []checker.Label{checker.Void},
				}},
				Untested: oneServer,
				Fence:    "Rev(), the revision at which its key was made; a leader may have its last one again (etcd 22123).",
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
