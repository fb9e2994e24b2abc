package trace

// The names of actors that are in every run. Clients are c0, c1, …; servers have the
// prefix of their kind and a number.
const (
	// World is the actor of faults, and of all that the world does by itself.
	World = "world"
	// Store is the protected resource.
	Store = "s0"
	// Probe is the lone client that asks for the lock when the workload is over.
	Probe = "probe"
)

// IsClient reports whether a name is that of a client: c0, c1, …
func IsClient(name string) bool {
	return len(name) > 1 && name[0] == 'c' && '0' <= name[1] && name[1] <= '9'
}

// IsServer reports whether a name is that of a server other than the store.
func IsServer(name string) bool {
	return name != "" && !IsClient(name) && name != Store && name != Probe && name != World
}
