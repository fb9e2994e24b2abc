// Command rueidislock has the lock of rueidislock. It draws random numbers, dials and reads clocks by itself.
package main

import (
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

// validity is the default of the library.
const validity = 5 * time.Second

func main() {
	const (
		quote = "The returned ctx will be canceled automatically and immediately once the KeyMajority is not held anymore. When the client-side caching is disabled, rueidislock will only try to re-acquire locks for every ExtendInterval."
		where = "README, Features"
		fence = "None: the value of a key is random."
		cache = "Client-side caching: the Redis of the world has none, so DisableCache is set, and a loss is learnt by the next renewal."
	)
	libraries.Main(libraries.Library{
		Name: "rueidislock", Module: "github.com/redis/rueidis", Source: "https://github.com/redis/rueidis/tree/main/rueidislock", Overlay: true,
		Findings: []libraries.Finding{
			{
				ID:     "rueidislock-clock",
				Status: libraries.NotKnown,
				Where:  "lock.go:171, 258, 265, 437",
				What:   "The end of a key is sent as an instant of the client's wall clock. Where that clock is behind the server's, the key ends early or at once, and another client enters; where it is ahead, the key of a client that has gone stays longer. FallbackSETPX helps until the first renewal.",
				Draft:  "rueidislock-clock.md",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock:    of("rueidislock", rueidislock.LockerOption{KeyMajority: 1, TryNextAfter: time.Second}),
				Why:     map[string][]string{"none": {"rueidislock-clock"}, "network": {"rueidislock-clock"}},
				Options: "One server, KeyMajority 1 as the README has it for one server, and leases of 5 s, the default. TryNextAfter is 1 s: with its default of 20 ms no client ever gets the lock where a round trip takes longer. It renews a lease by itself, twice in its length.",
				Quote:   quote, Where: where, Fence: fence, Untested: cache,
			},
			{
				Lock:    of("rueidislock-hardened", rueidislock.LockerOption{KeyMajority: 1, TryNextAfter: time.Second, FallbackSETPX: true}),
				Why:     map[string][]string{"none": {"rueidislock-clock"}},
				Options: "Hardened: FallbackSETPX, so that the request for a key has a length and not an instant of the client's clock.",
				Quote:   quote, Where: where, Fence: fence, Untested: cache,
			},
		},
	})
}

// of is rueidislock on one server. Its renewals, which come twice in a lease, detect a loss.
func of(name string, o rueidislock.LockerOption) scenarios.Lock {
	return scenarios.Lock{
		Name: name, Lease: scenarios.LeaseHeld, Detection: validity/2 + time.Second, Promise: glue.Held(),
		New: func(e scenarios.Env) (lock.Locker, error) {
			return libraries.Opened(e, func() (rueidislock.Locker, error) {
				o := o
				o.ClientOption = rueidis.ClientOption{InitAddress: []string{e.Address(scenarios.Primary)}, DisableCache: true, AlwaysRESP2: true}
				return rueidislock.NewLocker(o)
			}), nil
		},
	}
}
