// Package server has the type of what a scenario file knows of a kind of servers, and that of Redis. Those who bring a
// kind along fill it in, as data: no client and no server is compiled for it.
package server

// Facts are what a scenario file knows of a kind of servers.
type Facts struct {
	// Name is the key under world, such as "register".
	Name string `json:"kind"`
	// Prefix begins the names of the servers, such as "g" for g0, g1, …
	Prefix string `json:"prefix"`
	// Leader is the name of whichever of the servers leads, for the targets of faults. "" is for servers without a
	// leader.
	Leader string `json:"leader,omitempty"`
	// Lacks are the kinds of fault, such as "evict", that cannot strike these servers: they have nothing that it
	// could concern. A file with one is refused. "exhaust_pool" is for servers whose clients have no pools. Without any,
	// a file may have it, and no search draws it.
	Lacks []string `json:"lacks,omitempty"`
	// Watches says that they watch r0 and its replicas, with a link to each of them, and make a replica the primary when
	// r0 does not answer.
	Watches bool `json:"watches,omitempty"`
	// Cluster says that they are the nodes of a Redis Cluster, whose operator moves slots and replaces primaries.
	Cluster bool `json:"cluster,omitempty"`
	// Shards is how many nodes of a Redis Cluster are primaries at the start, which share the keys. The others are
	// replicas, as many of each primary.
	Shards int `json:"shards,omitempty"`
	// Behind says that other servers of their world ask them, over links, and no client, such as the database of an API
	// server.
	Behind bool `json:"behind,omitempty"`
	// Beside says that only the harness needs them, such as those that mint the tokens for a store under test. No search
	// draws a fault that strikes them alone.
	Beside bool `json:"beside,omitempty"`
}

// Kind is a kind of servers, with the package whose locks run on them.
type Kind struct {
	Facts
	// Package is the import path of the package, Locks are its locks.
	Package string
	Locks   []Lock
}

// Redis is the servers of package sim/redis, which every file can name.
var Redis = Facts{Name: "redis", Prefix: "r"}

// Lock is what a scenario file knows of a lock that its program may not have.
type Lock struct {
	Name string
	// Tokens says that its leases carry fencing tokens.
	Tokens bool
}
