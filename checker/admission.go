package checker

// Entry says whether a client that holds a lock may enter it again.
type Entry string

// The kinds of entry. The zero value of [Entry] counts as EntryExclusive.
const (
	// EntryExclusive grants the lock once at a time, whoever asks: a client that
	// is granted what it holds already has met a broken lock.
	EntryExclusive Entry = "exclusive"
	// EntryReentrant lets a client that holds the lock enter it again. Claims and
	// beliefs of one client then do not count as overlapping, and an entry that it
	// makes while an earlier one stands makes nothing stale.
	EntryReentrant Entry = "reentrant"
)

// Queue says whether a lock promises an order of its grants.
type Queue string

// The kinds of queue.
const (
	// QueueNone promises none.
	QueueNone Queue = ""
	// QueueFair promises to grant in the order in which the requests joined.
	QueueFair Queue = "fair"
)

// sameHold says that b, a later grant of a's client and resource, was made while
// the client had not ended a itself: with [EntryReentrant] it then entered again,
// and b is no grant of its own. How long the lock had promised a for has no part
// in it: the node, which alone knows whether the key is still there, grants such a
// request either way.
func (h History) sameHold(a, b Grant) bool {
	return h.Entry == EntryReentrant && a.Belief(CareNever).Contains(b.Granted)
}
