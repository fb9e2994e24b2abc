package trace

import "slices"

// Server says what a server of a world is. It is known before anything happens, and does not change: what a failover
// makes of a server is in the events.
type Server struct {
	// Name is the name under which clients dial it and reports show it, such as "r0".
	Name string `json:"name"`
	// Kind is its kind, as scenario files write it: "redis", "etcd", one of a lock's own. It is empty where nobody has
	// named it.
	Kind string `json:"kind,omitempty"`
	// Family is the name of the server that is its primary at the start, such as "r0", which is of that family too. It is
	// empty for a server without replicas.
	Family string `json:"family,omitempty"`
	// Role is what it does for the others and for clients at the start.
	Role Role `json:"role,omitempty"`
}

// Role is what a server does, in a word.
type Role string

// The roles.
const (
	// RoleSingle is a server for itself, which clients ask. There may be several, as for a Redlock.
	RoleSingle Role = "single"
	// RolePrimary is a server that has replicas, RoleReplica one of those, which may be promoted.
	RolePrimary Role = "primary"
	RoleReplica Role = "replica"
	// RoleMember is a member of a cluster, which clients see as one server.
	RoleMember Role = "member"
	// RoleWatcher is a server that watches a family, and makes a replica the primary when that does not answer: a
	// Sentinel.
	RoleWatcher Role = "watcher"
	// RoleBehind is a server that other servers ask, and no client.
	RoleBehind Role = "behind"
	// RoleStore is the protected resource.
	RoleStore Role = "store"
)

// Servers are the servers of a world, in the order in which they were built.
type Servers []Server

// Find is the server of that name. ok is false if there is none.
func (s Servers) Find(name string) (server Server, ok bool) {
	i := slices.IndexFunc(s, func(x Server) bool { return x.Name == name })
	if i < 0 {
		return Server{}, false
	}
	return s[i], true
}

// InFamily reports whether a name is that of a primary with replicas, or of a replica.
func (s Servers) InFamily(name string) bool {
	x, _ := s.Find(name)
	return x.Family != ""
}

// Has reports whether a name is that of a server with a role.
func (s Servers) Has(name string, role Role) bool {
	x, ok := s.Find(name)
	return ok && x.Role == role
}
