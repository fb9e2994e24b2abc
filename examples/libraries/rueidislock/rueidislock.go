// Command rueidislock has the lock of rueidislock. It draws random numbers, dials and reads clocks by itself.
package main

import (
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
)

// validity is the default of the library.
const validity = 5 * time.Second

func main() {
	const (
		is = "a lease by a key of Redis that ends, and is renewed while it is held; its holder has it until a " +
			"context ends."
		fence = "None: the value of a key is random."
		cache = "Client-side caching: the Redis of the world has none, so DisableCache is set, and a loss is learnt by the " +
			"next renewal."
	)
	says := []libraries.Sentence{
		{
			Text:  "If the invocation is successful, the `Locker` will extend the `ctx` validity periodically […]",
			Where: "README, How it works", File: "rueidislock/README.md",
		},
		{
			Text: "Please note that when the client-side caching is disabled, rueidislock will only try to re-acquire locks " +
				"for every ExtendInterval.",
			Where: "README, Disable Client Side Caching", File: "rueidislock/README.md",
			Labels: []checker.Label{checker.Misconduct},
		},
	}
	libraries.Main(libraries.Library{
		Name: "rueidislock", Module: "github.com/redis/rueidis",
		Source: "https://github.com/redis/rueidis/tree/main/rueidislock", Overlay: true,
		Findings: []libraries.Finding{
			{
				ID:     "rueidislock-clock",
				Status: libraries.NotKnown,
				Where:  "lock.go:171, 258, 265, 437",
				What: "The end of a key is sent as an instant of the client's wall clock. Where that clock is behind the " +
					"server's, the key ends early or at once, and another client enters; where it is ahead, the key of a client " +
					"that has gone stays longer. FallbackSETPX helps until the first renewal.",
				Draft: "rueidislock-clock.md",
			},
		},
		Locks: []libraries.Lock{
			{
				Lock: of("rueidislock", rueidislock.LockerOption{KeyMajority: 1, TryNextAfter: time.Second}),
				Options: "One server, KeyMajority 1 as the README has it for one server, and leases of 5 s, the default. " +
					"TryNextAfter is 1 s: with its default of 20 ms no client ever gets the lock where a round trip takes longer. " +
					"It renews a lease by itself, twice in its length.",
				Is: is, Says: says, Fence: fence, Untested: cache,
			},
			{
				Lock: of("rueidislock-hardened", rueidislock.LockerOption{KeyMajority: 1, TryNextAfter: time.Second,
					FallbackSETPX: true}),
				Options: "Hardened: FallbackSETPX, so that the request for a key has a length and not an instant of the client's " +
					"clock.",
				Is: is, Says: says, Fence: fence, Untested: cache,
			},
		},
	})
}

// of is rueidislock on one server. Its renewals, which come twice in a lease, detect a loss.
func of(name string, o rueidislock.LockerOption) scenarios.Lock {
	return scenarios.Lock{
		Name: name, Traits: scenarios.Traits{Lease: scenarios.LeaseHeld, Detection: validity/2 + time.Second,
			Promise: glue.Held()},
		New: func(e scenarios.Env) (lock.Locker, error) {
			return libraries.Opened(e, func() (rueidislock.Locker, error) {
				o := o
				o.ClientOption = rueidis.ClientOption{InitAddress: []string{e.Address(scenarios.Primary)}, DisableCache: true,
					AlwaysRESP2: true}
				return rueidislock.NewLocker(o)
			}), nil
		},
	}
}
