package scenarios

// abouts say in two sentences how each kind of lock works.
var abouts = map[string]string{
	"single": "A key on one Redis node, set with NX and a TTL, holds the id of its owner; a script deletes it only while that id is still there. " +
		"A holder that stays silent loses the lock when the TTL is over, whether it knows or not.",
	"fenced": "As single, and the script that grants the lock counts a fencing token up in the same step. " +
		"Every grant carries a higher token than the one before, so that a store that looks at it can refuse a holder whose time is over.",
	"watchdog": "As single, with a watchdog in the client's process that extends the lease while it is held, and tells the holder when that fails. " +
		"The work may take longer than the TTL, as long as the process lives.",
	"watchdog-fenced": "As fenced, with a watchdog in the client's process that extends the lease while it is held, and tells the holder when that fails. " +
		"The token stays the same for as long as the grant does.",
	"reentrant": "A hash on one Redis node counts the entries of an owner, who is named and may enter again. " +
		"The lock is free when each entry was released, or when the TTL is over.",
	"reentrant-fenced": "As reentrant, and a grant mints a fencing token in the same script. " +
		"An entry into a lock that the owner holds already keeps the token.",
	"fair": "A queue on one Redis node beside the key decides who is next, in the order in which clients asked. " +
		"A waiter that does not ask again in time counts as dead and is passed over.",
	"fair-fenced": "As fair, and the script that grants the lock counts a fencing token up in the same step. " +
		"Every grant carries a higher token than the one before.",
	"redlock": "The same key is set on a majority of five independent Redis nodes, within a time that leaves part of the TTL. " +
		"No node alone can stop everybody, and the lock mints no token.",
	"redlock-watchdog": "As redlock, with a watchdog in the client's process that extends the lease on a majority while it is held. " +
		"It tells the holder when a majority no longer agrees.",
	"redlock-fenced": "As redlock, and a grant carries a token one above the highest counter of a majority, which it writes back to a majority. " +
		"It is an experiment: nothing is promised about the order of these tokens.",
}
