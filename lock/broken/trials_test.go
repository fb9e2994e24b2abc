package broken_test

import (
	"fmt"
	"time"

	"locksim/faults"
)

// trials are the schedules. With a stagger, c0 starts first.
var trials = []trial{
	{
		specimen: "setnx-then-expire", sibling: single, // c1, the last to acquire, crashes
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s}
faults:
  - when: {client: c1, event: locked}
    crash: {process: c1}
`,
	},
	{
		specimen: "del-without-owner", sibling: single, // c0 releases after the TTL
		story: `
world: {clients: 3}
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 8s, stagger: 1s}
faults:
  - when: {client: c0, event: written}
    pause: {process: c0, for: 5s}
`,
	},
	{
		specimen: "get-then-del", sibling: single, // c0 has compared, and deletes late, but within ReleaseTimeout
		story: `
world: {clients: 3}
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 9s, stagger: 1s}
faults:
  - when: {client: c0, event: compared}
    pause: {process: c0, for: 1800ms}
`,
	},
	{
		specimen: "watchdog-bare-expire", sibling: watchdog, // c0 resumes, and renews the lock of c1
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 30s, stagger: 1s, checks_until: lost}
faults:
  - when: {client: c0, event: read}
    pause: {process: c0, for: 12s}
`,
	},
	{
		// c1 acquires and releases, then c0 resumes and sets the key again
		specimen: "watchdog-recreates-key", sibling: watchdog,
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 4s, stagger: 1s, checks_until: lost}
faults:
  - when: {client: c0, event: read}
    pause: {process: c0, for: 16s}
`,
	},
	{
		specimen: "watchdog-stop-lost", sibling: watchdog, // the release of c1 is lost, its renewals arrive
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 4s, stagger: 1s}
faults:
  - when: {client: c1, event: release}
    partition: {between: [c1], and: [r0], for: 3s, bytes: drop}
`,
	},
	{
		specimen: "watchdog-stops-after-error", sibling: watchdog, // one renewal is lost
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 30s, stagger: 1s, checks_until: lost}
faults:
  - when: {client: c0, event: read}
    partition: {between: [c0], and: [r0], for: 4s, bytes: drop}
`,
	},
	{
		specimen: "watchdog-ignores-failure", sibling: watchdog, // c0 cannot reach the lock's node, but the store
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 30s, stagger: 1s, checks_until: lost}
faults:
  - when: {client: c0, event: read}
    partition: {between: [c0], and: [r0], for: 40s}
`,
	},
	{
		specimen: "session-never-tells", sibling: watchdog, // c0 reaches the node again while it is still at work
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 30s, stagger: 1s, checks_until: lost}
faults:
  - when: {client: c0, event: read}
    partition: {between: [c0], and: [r0], for: 15s}
`,
	},
	{
		specimen: "renewals-time-out", sibling: watchdog, // c0 leads for 12 TTLs
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {kind: leader, rounds: 1, ticks: 12, hold: 10s, stagger: 1s, checks_until: steps}
`,
	},
	{
		specimen: "candidate-settles", sibling: watchdog, // c0 leads for 13 TTLs, and c1 campaigns meanwhile
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {kind: leader, rounds: 1, ticks: 26, hold: 5s, stagger: 1s, checks_until: steps}
`,
	},
	{
		specimen: "expire-whole-seconds", sibling: single,
		story: `
lock: {ttl: 500ms}
workload: {hold: 300ms, stagger: 100ms}
`,
	},
	{
		specimen: "expiry-by-client-clock", sibling: single, // c0's clock is behind by more than the TTL
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 4s, stagger: 1s}
`,
		more: func(ttl time.Duration) []faults.Fault { return []faults.Fault{{Action: jumpClock("c0", -3*ttl/2)}} },
	},
	{
		specimen: "token-after-lock", sibling: fenced, // c0 loses the lock before it has its token
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 6s, stagger: 1s}
faults:
  - when: {client: c0, event: locked}
    pause: {process: c0, for: 15s}
`,
	},
	{
		specimen: "token-before-lock", sibling: fenced, // c1 acquires and releases before c0 sends its request
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s}
faults:
  - when: {client: c0, event: asking}
    pause: {process: c0, for: 5s}
`,
	},
	{
		specimen: "token-read-late", sibling: fenced, // c0 loses the lock before it reads its token
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 6s, stagger: 1s}
faults:
  - when: {client: c0, event: locked}
    pause: {process: c0, for: 15s}
`,
	},
	{
		specimen: "token-per-reentry", sibling: reentrantFenced, app: nested,
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s}
`,
	},
	{
		specimen: "reentrant-two-keys", sibling: reentrant, // the owner of c0 expires at 10s, its count at 15s
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 8s, stagger: 1s}
faults:
  - when: {client: c0, event: locked}
    pause: {process: c0, for: 5s}
`,
	},
	{
		specimen: "until-in-wrong-unit", sibling: single,
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s}
`,
	},
	{
		specimen: "fair-place-too-short", sibling: fair,
		story: `
world: {clients: 3}
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {rounds: 3, hold: 2s, stagger: 100ms, think: 100ms}
`,
	},
	{
		specimen: "wedged-after-release", sibling: single,
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {rounds: 3, hold: 2s, stagger: 1s}
`,
	},
	{
		specimen: "owner-prefix", sibling: single, // c0, which is 1, comes back while c1, which is 10, has the lock
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms, owner: alike}
workload: {rounds: 2, hold: 2s, stagger: 500ms, think: 1s}
`,
	},
	{
		specimen: "names-collide", sibling: single,
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {rounds: 10, hold: 2s, think: 200ms, resources: ["order:1", "order:2"]}
`,
	},
	{
		specimen: "queue-of-ten", sibling: fair, // one holder and eleven waiters
		story: `
world: {clients: 12}
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {rounds: 2, hold: 2s, stagger: 100ms, think: 100ms}
`,
	},
	{
		specimen: "ttl-from-deadline", sibling: single, // the key of c0 is gone at 3s
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 6s, stagger: 1s, request: 3s, deadline: true}
`,
	},
	{
		specimen: "extend-forgets-owner", sibling: single, // c0 extends at 12s, when c1 has the lock
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 24s, stagger: 1s, checks_until: steps, extend: 1}
`,
	},
	{
		specimen: "try-then-unlock", sibling: single, // c1 tries at 1s, when c0 has the lock
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s, tries: true}
`,
	},
	{
		specimen: "quorum-of-half", sibling: redlock, // each of two clients has two of four nodes
		story: `
world: {redis: 4}
lock: {ttl: 10s, backoff: 200ms..400ms, nodes: 4}
workload: {rounds: 20, hold: 500ms, think: 0s}
`,
	},
	{
		specimen: "redlock-one-by-one", sibling: redlock, // one node of five is unreachable
		story: `
world: {redis: 5}
lock: {ttl: 2s}
workload: {hold: 500ms, stagger: 100ms}
faults:
  - at: 0s
    partition: {between: [c0, c1], and: [r1], for: 60s}
`,
	},
	{
		specimen: "redlock-no-drift", sibling: redlock, // all clocks of the nodes are fast by less than the allowed hundredth
		story: `
world: {redis: 5}
lock: {ttl: 10s, backoff: 5ms..10ms}
workload: {hold: 12s, stagger: 9800ms}
`,
		more: func(time.Duration) []faults.Fault { return driftNodes(5, 8000) },
	},
	{
		specimen: "redlock-keeps-minority", sibling: redlock, // concurrent requests split the votes
		story: `
world: {redis: 5, clients: 3}
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 500ms, think: 0s}
`,
	},
	{
		specimen: "redlock-wall-clock", sibling: redlock, // c0's clock is set back once the replies have arrived
		story: `
world: {redis: 5}
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 14s, stagger: 9s}
`,
		more: func(ttl time.Duration) []faults.Fault {
			return []faults.Fault{{When: &faults.Event{Client: "c0", Name: "answered", Nth: 1}, Action: jumpClock("c0", -ttl/2)}}
		},
	},
	{
		specimen: "release-with-request-context", sibling: single, app: perRequest, // the request ends first
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s}
`,
	},
	{
		specimen: "lease-ends-with-the-wait", sibling: single, // the context of Acquire is cancelled when it returns
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s, acquire_within: 9s}
`,
	},
	{
		specimen: "release-sent-once", sibling: single, // c0's release is lost, and it calls it again
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 2s, stagger: 1s, release: retried}
faults:
  - when: {client: c0, event: release}
    partition: {between: [c0], and: [r0], for: 3s}
`,
	},
	{
		specimen: "row-by-client-clock", // c1's clock is ahead by more than the TTL
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {hold: 5s, stagger: 1s}
`,
		more: func(ttl time.Duration) []faults.Fault { return []faults.Fault{{Action: jumpClock("c1", 3*ttl/2)}} },
	},
	{
		specimen: "row-update-unchecked", // both read the row at once
		story: `
lock: {ttl: 10s, backoff: 200ms..400ms}
workload: {rounds: 3, hold: 1s, think: 0s}
`,
	},
}

// jumpClock sets a client's wall clock.
func jumpClock(client string, d time.Duration) faults.Action {
	return faults.ClockJump{Clock: client, By: d}
}

// driftNodes makes the clocks of the first nodes fast, by parts per million.
func driftNodes(nodes int, ppm int64) []faults.Fault {
	var out []faults.Fault
	for i := range nodes {
		out = append(out, faults.Fault{Action: faults.ClockDrift{Clock: fmt.Sprint("r", i), PPM: ppm}})
	}
	return out
}
