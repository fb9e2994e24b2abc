// Package blame_test has, of many runs, whose fault their end is, what would have helped, and the event that
// decides it.
package blame_test

import "locksim/scenarios/outcome/blame"

// row is what is right to say of a run of the library, by the source of its lock and by its scenario. It was written
// before the code that says it.
type row struct {
	scenario, lock, mode string
	seed                 uint64
	culprit              blame.Culprit
	remedy               blame.Remedy
	deed                 blame.Deed // what decided it
	by, of               string     // who did it, and to whom; "" where the deed has none
}

// table is in the order of the culprits. Where the servers record no keys, as of rows in a table, the deed is that a
// second client was let in.
var table = []row{
	// It deletes what another has.
	{"del-without-owner", "broken/del-without-owner", "none", 1, "lock", "mend", "deletes", "c0", "c2"},
	{"gc-pause", "broken/del-without-owner", "none", 1, "lock", "mend", "deletes", "c0", "c1"},
	{"release-retried", "broken/del-without-owner", "none", 1, "lock", "mend", "deletes", "c0", ""},
	{"get-then-del", "broken/get-then-del", "none", 1, "lock", "mend", "deletes", "c0", ""},
	{"try-then-unlock", "broken/try-then-unlock", "none", 1, "lock", "mend", "deletes", "c1", "c0"},
	{"sql-cleaner-clock", "broken/sql-cleaner", "none", 1, "lock", "mend", "deletes", "c1", "c0"},
	{"sql-release-without-owner", "broken/sql-release-without-owner", "none", 1, "lock", "mend", "deletes", "c0", ""},
	{"zk-fixed-path", "broken/zk-fixed-path", "none", 1, "lock", "mend", "deletes", "c0", ""},
	{"force", "by-force", "none", 1, "lock", "mend", "deletes", "c1", "c0"},
	{"late-release", "owner-one", "none", 1, "lock", "mend", "deletes", "c0", "c2"},
	// It overwrites what another has.
	{"etcd-put-without-compare", "broken/etcd-put-without-compare", "none", 1, "lock", "mend", "overwrites", "", ""},
	{"row-by-client-clock", "broken/row-by-client-clock", "none", 1, "lock", "mend", "admits", "", ""},
	{"leader-clock-jumps", "broken/row-by-client-clock", "none", 1, "lock", "mend", "admits", "", ""},
	{"sql-takeover-unchecked", "broken/sql-takeover-unchecked", "none", 1, "lock", "mend", "overwrites", "", ""},
	{"sentinel-reads-replica", "broken/sentinel-reads-replica", "none", 1, "lock", "mend", "overwrites", "c1", "c0"},
	{"late-write-of-a-rival", "read-back-renewed", "none", 1, "lock", "mend", "overwrites", "c1", "c0"},
	{"late-extend", "takes-over", "none", 1, "lock", "mend", "overwrites", "c0", "c1"},
	// It prolongs what another has.
	{"watchdog-bare-expire", "broken/watchdog-bare-expire", "none", 1, "lock", "mend", "prolongs", "c0", "c1"},
	{"late-extension", "broken/extend-forgets-owner", "none", 1, "lock", "mend", "prolongs", "c0", "c1"},
	// It claims the lock for longer than its key lives.
	{"clock-drift-within", "broken/redlock-no-drift", "none", 1, "lock", "mend", "outlives", "", ""},
	{"redlock-wall-clock", "broken/redlock-wall-clock", "none", 1, "lock", "mend", "outlives", "", ""},
	{"etcd-until-from-answer", "broken/etcd-until-from-answer", "none", 1, "lock", "mend", "outlives", "", ""},
	{"etcd-never-renewed", "broken/etcd-never-renewed", "none", 1, "lock", "mend", "outlives", "c0", ""},
	{"expiry-by-client-clock", "broken/expiry-by-client-clock", "none", 1, "lock", "mend", "without-key", "", ""},
	{"request-deadline", "broken/ttl-from-deadline", "none", 1, "lock", "mend", "outlives", "", ""},
	{"session-untold", "broken/session-never-tells", "none", 1, "lock", "mend", "outlives", "c0", ""},
	{"watchdog-deaf", "broken/watchdog-ignores-failure", "none", 1, "lock", "mend", "outlives", "c0", ""},
	{"zk-believes", "broken/zk-believes", "none", 1, "lock", "mend", "outlives", "c0", ""},
	// It gives its key up before the work is done.
	{"calm", "claim-only", "none", 1, "lock", "mend", "gives-up", "c2", ""},
	{"ttl-whole-seconds", "broken/expire-whole-seconds", "none", 1, "lock", "mend", "admits", "", ""},
	// It lets two in by one key: one owner, one session, half of the votes, a count that it does not read.
	{"owners-alike", "broken/owner-prefix", "none", 1, "lock", "mend", "overwrites", "", ""},
	{"sql-advisory-pooled", "broken/sql-advisory-pooled", "none", 1, "lock", "mend", "shares", "c1", "c0"},
	{"zk-adopts", "broken/zk-adopts", "none", 1, "lock", "mend", "shares", "", ""},
	{"split-vote-of-four", "broken/quorum-of-half", "none", 2, "lock", "mend", "without-key", "", ""},
	{"row-count-unchecked", "broken/row-update-unchecked", "none", 1, "lock", "mend", "without-key", "", ""},
	// It goes on with a lease that had ended.
	{"watchdog-recreates-key", "broken/watchdog-recreates-key", "none", 1, "lock", "mend", "retakes", "c0", ""},
	{"watchdog-one-error", "broken/watchdog-stops-after-error", "none", 1, "lock", "mend", "unrenewed", "c0", ""},
	{"leader-not-renewed", "broken/renewals-time-out", "none", 1, "lock", "mend", "unrenewed", "c0", ""},
	// It leaves its key behind.
	{"asked-to-end", "broken/release-with-request-context", "none", 1, "lock", "mend", "leaves", "", ""},
	{"request-context", "broken/release-with-request-context", "none", 1, "lock", "mend", "leaves", "", ""},
	{"minority-kept", "broken/redlock-keeps-minority", "none", 1, "lock", "mend", "leaves", "", ""},
	{"reentrant-two-keys", "broken/reentrant-two-keys", "none", 1, "lock", "mend", "leaves", "", ""},
	{"setnx-then-expire", "broken/setnx-then-expire", "none", 1, "lock", "mend", "leaves", "", ""},
	{"watchdog-stop-lost", "broken/watchdog-stop-lost", "none", 1, "lock", "mend", "leaves", "c1", ""},
	{"zk-persistent", "broken/zk-persistent", "none", 1, "lock", "mend", "leaves", "c0", ""},
	// Its tokens are not minted with the grant.
	{"etcd-lease-as-token", "broken/etcd-lease-as-token", "seal", 1, "lock", "mend", "mints", "", ""},
	{"sql-cleaner-number", "broken/sql-cleaner", "seal", 1, "lock", "mend", "mints", "", ""},
	{"sql-token-read-late", "broken/sql-token-read-late", "seal", 1, "lock", "mend", "mints", "", ""},
	{"token-after-lock", "broken/token-after-lock", "seal", 1, "lock", "mend", "mints", "", ""},
	{"token-after-lock", "broken/token-after-lock", "none", 1, "lock", "mend", "belated", "c0", "c1"},
	{"token-before-lock", "broken/token-before-lock", "seal", 1, "lock", "mend", "mints", "", ""},
	{"token-before-lock-stale", "broken/token-before-lock", "seal", 1, "lock", "mend", "mints", "", ""},
	{"token-per-reentry", "broken/token-per-reentry", "seal", 1, "lock", "mend", "mints", "", ""},
	{"token-read-late", "broken/token-read-late", "seal", 1, "lock", "mend", "mints", "", ""},
	// It refuses what is free, does not answer, or grants nothing.
	{"leader-settled", "broken/candidate-settles", "none", 1, "lock", "mend", "refuses", "", ""},
	{"names-collide", "broken/names-collide", "none", 1, "lock", "mend", "refuses", "", ""},
	{"redlock-dead-node", "broken/redlock-one-by-one", "none", 1, "lock", "mend", "refuses", "", ""},
	{"wedged-after-release", "broken/wedged-after-release", "none", 1, "lock", "mend", "refuses", "", ""},
	{"sql-two-locks", "broken/sql-two-locks", "none", 1, "lock", "mend", "refuses", "", ""},
	{"crowded-queue", "broken/queue-of-ten", "none", 1, "lock", "mend", "displaces", "c0", "c2"},
	{"place-too-short", "broken/fair-place-too-short", "none", 1, "lock", "mend", "displaces", "c0", "c1"},
	{"release-again", "broken/release-sent-once", "none", 1, "lock", "mend", "duty", "", ""},
	{"until-in-wrong-unit", "broken/until-in-wrong-unit", "none", 1, "lock", "mend", "void", "", ""},
	{"wait-cancelled", "broken/lease-ends-with-the-wait", "none", 1, "lock", "mend", "void", "", ""},
	// The section does it: it releases the lock, and goes on.
	{"release-before-write", "single", "none", 1, "section", "section", "released", "c0", ""},
	{"release-before-write", "fenced", "none", 1, "section", "section", "released", "c0", ""},
	{"shared-owner", "reentrant", "none", 1, "section", "section", "shares", "", ""},
	{"shared-owner", "broken/token-per-reentry", "none", 1, "section", "section", "shares", "", ""},
	{"job-of-the-hour", "single", "none", 1, "section", "section", "repeats", "", ""},
	// It takes the lock that it has, which has no owners.
	{"self-deadlock", "single", "none", 1, "section", "section", "reenters", "", ""},
	{"zookeeper-self-deadlock", "zk-lock", "none", 1, "section", "section", "reenters", "", ""},
	{"etcd-session-reenters", "etcd-mutex", "none", 1, "section", "section", "reenters", "c0", ""},
	{"torn-by-crash", "single", "none", 1, "section", "section", "tears", "", ""},
	// The choice: what the lock relies on failed.
	{"failover-before-replication", "single", "none", 1, "choice", "choose", "forgets", "", ""},
	{"failover-before-replication", "fenced", "none", 1, "choice", "choose", "forgets", "", ""},
	{"flushall", "single", "none", 1, "choice", "choose", "forgets", "r0", ""},
	{"forced-unlock", "single", "none", 1, "choice", "choose", "forgets", "r0", ""},
	{"lock-key-evicted", "single", "none", 1, "choice", "choose", "forgets", "r0", ""},
	{"power-loss-everysec", "single", "none", 1, "choice", "choose", "forgets", "", ""},
	{"redlock-restart", "redlock", "none", 1, "choice", "choose", "forgets", "r2", ""},
	{"redis-clock-ahead", "single", "none", 1, "choice", "choose", "forgets", "r0", ""},
	{"redlock-clock-jump", "redlock", "none", 1, "choice", "choose", "forgets", "r2", ""},
	{"clock-drift", "redlock", "none", 1, "choice", "choose", "forgets", "", ""},
	{"split-brain", "single", "none", 1, "choice", "choose", "forgets", "", ""},
	{"sentinel-stale-map", "broken/sentinel-asks-once", "none", 1, "choice", "choose", "forgets", "", ""},
	{"sentinel-wait-is-no-guard", "broken/sentinel-wait", "none", 1, "choice", "choose", "forgets", "", ""},
	{"sql-server-clock", "sql-table", "none", 1, "choice", "choose", "forgets", "p0", ""},
	// The client wrote after an end that it could know.
	{"hold-beyond-ttl", "single", "none", 1, "client", "section", "late-send", "c0", ""},
	{"hold-beyond-ttl", "fenced", "none", 1, "client", "section", "late-send", "c0", ""},
	// The network delivered late what was sent in time.
	{"late-packet", "single", "none", 1, "network", "fence", "late-arrival", "c0", ""},
	{"late-packet", "fenced", "none", 1, "network", "fence", "late-arrival", "c0", ""},
	{"partition-holder", "single", "none", 1, "network", "fence", "late-arrival", "c0", ""},
	// No one: the process stood still.
	{"gc-pause", "single", "none", 1, "client", "section", "late-send", "c0", ""},
	{"gc-pause", "fenced", "none", 1, "client", "section", "late-send", "c0", ""},
	{"gc-pause", "watchdog", "none", 1, "client", "section", "late-send", "c0", ""},
	{"gc-pause", "redlock", "none", 1, "client", "section", "late-send", "c0", ""},
	{"pause-after-check", "single", "none", 1, blame.NoOne, "fence", "stood-still", "c0", ""},
	{"pause-after-check", "fenced", "none", 1, blame.NoOne, "fence", "stood-still", "c0", ""},
	{"pause-after-check", "watchdog", "none", 1, blame.NoOne, "fence", "stood-still", "c0", ""},
	{"pause-after-check", "redlock", "none", 1, blame.NoOne, "fence", "stood-still", "c0", ""},
	{"pause-after-check", "fair", "none", 1, blame.NoOne, "fence", "stood-still", "c0", ""},
	{"vm-suspend", "single", "none", 1, "choice", "choose", "forgets", "", "c0"},
	{"etcd-lease-pause", "etcd", "none", 1, "client", "section", "late-send", "c0", ""},
	{"zk-session-expiry", "zookeeper", "none", 1, "client", "section", "late-send", "c0", ""},
	// Nothing went wrong.
	{"calm", "single", "none", 1, blame.NoOne, "none", "", "", ""},
	{"zk-herd", "broken/zk-herd", "none", 1, blame.NoOne, "none", "", "", ""},
}
