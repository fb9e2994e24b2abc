package checker

// Entry says who may enter a lock that a client holds.
type Entry string

// The kinds of entry. The zero value of [Entry] counts as EntryExclusive.
const (
	// EntryExclusive grants the lock to one request at a time: a lock that
	// grants it again to its holder is broken.
	EntryExclusive Entry = "exclusive"
	// EntryReentrant lets a client that holds the lock enter it again. Claims
	// and beliefs of one client then do not count as overlapping, and an entry
	// makes nothing stale that is done under earlier ones which the client has not
	// ended. There is no fair queue with it: it is not defined which entries pass
	// the queue.
	EntryReentrant Entry = "reentrant"
	// EntryOwnerless is exclusive, of a lock that knows no owners and promises nothing of being entered again, and that
	// its clients enter again all the same. That it lets one in is no overlap.
	EntryOwnerless Entry = "ownerless"
	// EntryShared lets everyone in: the clients have no lock, and their data is right without one, as by writes
	// that compare a version. A grant is the beginning of a section then. No two claims or beliefs count as overlapping,
	// and no client is a rightful holder whom the store must not refuse.
	EntryShared Entry = "shared"
)

// Queue says whether a lock promises an order of its grants.
type Queue string

// The kinds of queue.
const (
	// QueueNone promises no order.
	QueueNone Queue = ""
	// QueueFair promises to grant in the order in which the requests joined.
	QueueFair Queue = "fair"
)

// sameHold reports whether b, a later grant of a's client and resource, was
// made before the client had ended a itself: with [EntryReentrant] it then
// entered again, and b is not a separate grant. The validity of a does not
// matter: the node, which alone knows whether the key still exists, grants such
// a request either way.
func (h History) sameHold(a, b Grant) bool {
	return h.Entry == EntryReentrant && a.Belief(CareNever).Contains(b.Granted)
}
