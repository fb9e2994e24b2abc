package cases

import "locksim/scenarios"

// All are the locks of this package, for app.Main and for tests.
func All() []scenarios.Lock {
	return []scenarios.Lock{
		Renewing(), NoRelease(),
		AbsoluteTTL(), BootFlush(), RetryForces(), HolderGone(), AtLeast(), FailOpen(), NotSynced(), TwoVersions(),
		LocalMutex(), LocalGate(), TTLFactor("r36b-ttl-sixtyfold", 60), Sentinel(), Delifeq(),
		TryLeaks(), OnThePool(), OtherKey(), IdleTimeout(), InsertIfNone(),
	}
}
