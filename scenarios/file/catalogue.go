package file

import "slices"

// FailureMode is an entry of the catalogue of what goes wrong with locks in
// practice, and the scenarios that show it.
type FailureMode struct {
	// ID is the number in the catalogue, F01 to F73.
	ID string `json:"id" jsonschema:"pattern=^F[0-9][0-9]+$"`
	// Name is what goes wrong, in a few words.
	Name string `json:"name"`
	// Scenarios are those of the library that show it, in order.
	Scenarios []string `json:"scenarios,omitempty"`
	// Missing says why no scenario shows it.
	Missing string `json:"missing,omitempty"`
}

// Catalogue is every failure mode that locksim knows of, by its id. It returns
// the error of [Library].
func Catalogue() ([]FailureMode, error) {
	all, err := Library()
	if err != nil {
		return nil, err
	}
	out := slices.Clone(failureModes)
	for i := range out {
		for _, s := range all {
			if slices.Contains(s.Catalogue, out[i].ID) {
				out[i].Scenarios = append(out[i].Scenarios, s.Name)
			}
		}
	}
	return out, nil
}

// failureModes are the entries. One without a scenario says why.
var failureModes = []FailureMode{
	{ID: "F01", Name: "SETNX+EXPIRE crash"},
	{ID: "F02", Name: "DEL without owner check"},
	{ID: "F03", Name: "GET-then-DEL race"},
	{ID: "F04", Name: "Watchdog EXPIRE without owner check"},
	{ID: "F05", Name: "Renew re-creates the key"},
	{ID: "F06", Name: "Token INCR not atomic with NX, before"},
	{ID: "F07", Name: "Token INCR after NX"},
	{ID: "F08", Name: "Token read late from shared counter"},
	{ID: "F09", Name: "Counter regressed on failover/restart"},
	{ID: "F10", Name: "Counter evicted / TTL'd"},
	{ID: "F11", Name: "Client GC pause past TTL, then write"},
	{ID: "F12", Name: "Pause between validity check and write"},
	{ID: "F13", Name: "Delayed write packet"},
	{ID: "F14", Name: "Stale write arrives BEFORE new holder's first write"},
	{ID: "F15", Name: "Redlock node crash, no persistence"},
	{ID: "F16", Name: "Delayed-restart rule broken"},
	{ID: "F17", Name: "fsync everysec loss on power cut"},
	{ID: "F18", Name: "Clock jump forward on one Redis node"},
	{ID: "F19", Name: "Clock jump back on server"},
	{ID: "F20", Name: "Clock rate drift beyond 1 %"},
	{ID: "F21", Name: "Client wall clock used (not monotonic), NTP step/leap"},
	{ID: "F22", Name: "Absolute expiry from the client clock (PXAT/PEXPIREAT)"},
	{ID: "F23", Name: "Pause during Redlock acquisition"},
	{ID: "F24", Name: "Asymmetric partition"},
	{ID: "F25", Name: "Split vote / nobody wins"},
	{ID: "F26", Name: "Minority not released after a failed attempt"},
	{ID: "F27", Name: "Lost reply, retry sees own lock as foreign"},
	{ID: "F28", Name: "Late SET after own release (in-flight cancelled attempt)"},
	{ID: "F29", Name: "Release with cancelled context"},
	{ID: "F30", Name: "Release retried after it succeeded"},
	{ID: "F31", Name: "Owner id reuse"},
	{ID: "F32", Name: "Re-entrancy across goroutines/sessions"},
	{ID: "F33", Name: "Re-entrant counter lost on expiry"},
	{ID: "F34", Name: "Re-entrant INCR of token"},
	{ID: "F35", Name: "Watchdog stops after one error"},
	{ID: "F36", Name: "Watchdog outlives dead worker"},
	{ID: "F37", Name: "Watchdog timer lag"},
	{ID: "F38", Name: "Late loss detection"},
	{ID: "F39", Name: "No loss callback"},
	{ID: "F40", Name: "Failover before replication"},
	{ID: "F41", Name: "WAIT does not save"},
	{ID: "F42", Name: "Split-brain dual masters"},
	{ID: "F43", Name: "Stale promoted replica resurrects released lock"},
	{ID: "F44", Name: "Expiry on replicas/after promotion"},
	{ID: "F45", Name: "Eviction of lock key"},
	{ID: "F46", Name: "FLUSHALL / admin DEL / SCRIPT FLUSH"},
	{ID: "F47", Name: "Non-deterministic Lua (TIME, RANDOM) or undeclared keys"},
	{ID: "F48", Name: "TTL truncated to whole seconds"},
	{ID: "F49", Name: "Pool exhaustion"},
	{ID: "F50", Name: "Pub/sub unlock lost or subscribed late"},
	{ID: "F51", Name: "Fair queue: dead waiter"},
	{ID: "F52", Name: "Fair queue: live waiter evicted as dead"},
	{ID: "F53", Name: "Fair queue timeouts by client clock"},
	{ID: "F54", Name: "Abandoned queue token granted later"},
	{ID: "F55", Name: "Thundering herd"},
	{ID: "F56", Name: "etcd lease expired while queued"},
	{ID: "F57", Name: "etcd keepalive stops during pause"},
	{ID: "F58", Name: "ZK session expiry vs pause"},
	{ID: "F59", Name: "ZK adopts previous session's node"},
	{ID: "F60", Name: "Create applied, reply lost"},
	{ID: "F61", Name: "ZK sequence int32 wrap / parse by \"-\"", Missing: "a unit test of lock/zklock shows the wrap, " +
		"which takes 2^31 nodes in a queue"},
	{ID: "F62", Name: "Client wedged after failed unlock"},
	{ID: "F63", Name: "DB lease row judged by client clock"},
	{ID: "F64", Name: "DB lock deleted by cleaner/by hand"},
	{ID: "F65", Name: "SELECT FOR UPDATE connection lost mid-section"},
	{ID: "F66", Name: "Advisory lock behind transaction pooler"},
	{ID: "F67", Name: "Optimistic version ABA / missing row count check"},
	{ID: "F68", Name: "Callback before confirmation", Missing: "no lock here has callbacks: Acquire returns after the " +
		"answer that grants it, and so does that of an election on etcd. Those of client-go, in examples/leases, come " +
		"after it too"},
	{ID: "F69", Name: "Release before work stopped"},
	{ID: "F70", Name: "Task longer than max lease, no renew"},
	{ID: "F71", Name: "Infinite renewal starves others"},
	{ID: "F72", Name: "Lock-delay absent after invalidation"},
	{ID: "F73", Name: "Torn section"},
}
