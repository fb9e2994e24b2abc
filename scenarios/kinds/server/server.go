// Package server has the type of what a scenario file knows of a kind of servers, and that of Redis. Those who bring a
// kind along fill it in, as data: no client and no server is compiled for it.
package server

// Facts are what a scenario file knows of a kind of servers.
type Facts struct {
	// Kind is the key under world, such as "register"; Prefix begins the servers'
	// names, such as "g" for g0, g1, …
	Kind, Prefix string
	// Leader is the name of whichever of the servers leads, for the targets of faults. "" is for servers without a
	// leader.
	Leader string
	// Lacks are the kinds of fault, such as "evict", that cannot strike these servers: they have nothing that it
	// could concern. A file with one is refused. "exhaust_pool" is for servers whose clients have no pools. Without any,
	// a file may have it, and no search draws it.
	Lacks []string
	// Watches says that they watch r0 and its replicas, with a link to each of them.
	Watches bool
	// Behind says that other servers of their world ask them, over links, and no client.
	Behind bool
	// Beside says that only the harness needs them.
	Beside bool
	// Package is the import path of the package whose locks run on these servers. "" is for those of a user.
	Package string
	// Locks are the locks of that package.
	Locks []Lock
}

// Redis is the servers of package sim/redis, which every file can name.
var Redis = Facts{Kind: "redis", Prefix: "r"}

// Lock is what a scenario file knows of a lock that its program may not have.
type Lock struct {
	Name string
	// Tokens says that its leases carry fencing tokens.
	Tokens bool
}
