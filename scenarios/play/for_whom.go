package play

// forWhom says in a sentence for whom each kind of lock is.
var forWhom = map[string]string{
	"single":           "Work that may be done twice now and then.",
	"fenced":           "Data that must stay right, in a store that compares tokens.",
	"watchdog":         "Work of unknown length that may be done twice now and then.",
	"watchdog-fenced":  "Work of unknown length on data that must stay right, in a store that compares tokens.",
	"reentrant":        "Code that may be called with the lock held; the work may be done twice now and then.",
	"reentrant-fenced": "Code that may be called with the lock held, on data that must stay right, in a store that compares tokens.",
	"fair":             "Many clients that wait for one lock, where none may starve and the work may be done twice now and then.",
	"fair-fenced":      "Many clients that wait for one lock, where none may starve, on data that must stay right, in a store that compares tokens.",
	"redlock":          "Work that may be done twice now and then, and must go on when a Redis server fails.",
	"redlock-watchdog": "Work of unknown length that may be done twice now and then, and must go on when a Redis server fails.",
	"redlock-fenced":   "Experiments with tokens from a quorum. Nothing is promised about their order, so data must not rest on them.",
}
