package play

// abouts say in two sentences how each kind of lock works.
var abouts = map[string]string{
	"single": "A key on one Redis node, set with NX and a TTL, holds the id of its owner, and a script deletes it only while that id is still there. " +
		"A holder that stays silent loses the lock when the TTL is over, whether it knows or not.",
	"fenced": "A key on one Redis node, set with NX and a TTL, holds the id of its owner, and the script that grants it counts a fencing token up in the same step. " +
		"Every grant carries a higher token than the one before, so that a store that looks at it can refuse a holder whose time is over.",
	"watchdog": "A key on one Redis node with a TTL holds the id of its owner, and a watchdog in the owner’s process extends it while it is held, and tells the holder when that fails. " +
		"The work may take longer than the TTL, for as long as the process lives.",
	"watchdog-fenced": "A key on one Redis node with a TTL holds the id of its owner, a watchdog in the owner’s process extends it while it is held, and every grant carries a higher fencing token than the one before. " +
		"The work may take longer than the TTL, and the token stays the same for as long as the grant does.",
	"reentrant": "A hash on one Redis node with a TTL counts the entries of its owner, who is named and may enter again. " +
		"The lock is free when each entry was released, or when the TTL is over.",
	"reentrant-fenced": "A hash on one Redis node with a TTL counts the entries of its owner, who is named and may enter again, and every grant carries a higher fencing token than the one before. " +
		"An entry into a lock that the owner holds already keeps the token.",
	"fair": "Beside the key, a queue on the same Redis node decides who is next, in the order in which clients asked. " +
		"A waiter that does not ask again in time counts as dead and is passed over.",
	"fair-fenced": "Beside the key, a queue on the same Redis node decides who is next, in the order in which clients asked, and every grant carries a higher fencing token than the one before. " +
		"A waiter that does not ask again in time counts as dead and is passed over.",
	"redlock": "The same key is set on a majority of five independent Redis nodes, within a time that leaves part of the TTL. " +
		"No node alone can stop everybody, and the lock mints no token.",
	"redlock-watchdog": "The same key is set on a majority of five independent Redis nodes, and a watchdog in the owner’s process extends it on a majority while it is held. " +
		"The holder is told when a majority no longer agrees.",
	"redlock-fenced": "The same key is set on a majority of five independent Redis nodes, and a grant carries a token one above the highest counter of a majority, which it writes back to a majority. " +
		"It is an experiment: nothing is promised about the order of these tokens.",
}
