package comparisons

// Trouble is what strikes once, in a run in which two clients ask for a lock again and again, each for a short section.
type Trouble string

// The troubles: those of the servers, and those of a client that has the lock.
const (
	// ServerCrashes is the end of the one server of the lock, or of the leader of its group. It is back three seconds
	// later, with what it had written to files; a Redis server has written all (appendfsync everysec).
	ServerCrashes Trouble = "server-crashes"
	// MemberLost is the end, for good, of a server that does not lead: of a group, of a quorum, or a replica.
	MemberLost Trouble = "member-lost"
	// PrimaryLost is the end of the primary, for good: Sentinels make a replica the primary.
	PrimaryLost Trouble = "primary-lost"
	// HolderCrashes is the end of the process of the client that has the lock. Its system closes its connections.
	HolderCrashes Trouble = "holder-crashes"
	// HolderLost is the end of its machine, of which no server is told, as if it was cut off for good.
	HolderLost Trouble = "holder-lost"
	// HolderPaused is a pause of its process, for longer than any lease.
	HolderPaused Trouble = "holder-paused"
)

// Troubles are all of them, in the order in which tables show them. The caller owns the slice.
func Troubles() []Trouble {
	return []Trouble{ServerCrashes, MemberLost, PrimaryLost, HolderCrashes, HolderLost, HolderPaused}
}

// OfHolder reports whether it strikes the client that has the lock. The lock is not free then, but abandoned: its lease
// or its session has to end.
func (t Trouble) OfHolder() bool { return t == HolderCrashes || t == HolderLost || t == HolderPaused }

// Availability is for how long a lock is not to be had.
type Availability struct {
	// UsualSeconds is the longest such time before the trouble, in all of the runs.
	UsualSeconds float64 `json:"usual_seconds"`
	// Troubles are those that can strike the servers of the lock, in the order of [Troubles].
	Troubles []NotToBeHad `json:"troubles"`
}

// NotToBeHad is for how long a lock was not to be had after a trouble, in so many runs: in each, the longest time in
// which no client had the lock and none was granted it, although one that the trouble did not strike had asked for it.
// A client that the trouble strikes has the lock no more from then on.
type NotToBeHad struct {
	// Trouble is what struck.
	Trouble Trouble `json:"trouble"`
	// Runs counts the runs in which it did.
	Runs int `json:"runs" jsonschema:"minimum=1"`
	// MedianSeconds is that time in the run in the middle.
	MedianSeconds float64 `json:"median_seconds"`
	// LongestSeconds is that time in the run in which it was longest.
	LongestSeconds float64 `json:"longest_seconds"`
	// Never counts the runs in which no client was granted the lock any more. They count as the longest ones, with the
	// time in which one asked for it in vain.
	Never int `json:"never,omitempty"`
}

// MedianNever reports whether the run in the middle is one of those in which the lock was granted no more.
func (n NotToBeHad) MedianNever() bool { return n.Runs/2 >= n.Runs-n.Never }

// Of is what the lock is like after a trouble; ok is false for one that cannot strike its servers.
func (a *Availability) Of(t Trouble) (n NotToBeHad, ok bool) {
	if a == nil {
		return n, false
	}
	for _, n := range a.Troubles {
		if n.Trouble == t {
			return n, true
		}
	}
	return n, false
}
