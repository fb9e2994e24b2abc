// Package tune computes what the TTL of a lock means for sections whose lengths are known: how often a section outlives
// its lease, how often two clients act at once and data is lost, and for how long a crash blocks the others.
//
// It is arithmetic, without a world and without a random source: it counts over the given durations. Time 0 is the
// instant at which the server sets the lease. The holder knows after the delay of the reply, D, works for W, until its
// write takes effect, and stands still for P, and so has ended after D + P + W. The lease has ended after L, which is
// the TTL less the margin. A lease that is renewed every TTL/k ends early only if its holder stands still: when its
// age, D and a uniform part of the interval, and the pause exceed L. That a renewal fails is not counted. The holder
// does not look at its lease, which is the worst that a client can do.
//
// A client that waits asks again and again, each time after a uniform part of the backoff B, as the locks of package
// lock do. So it asks within t after L with the probability 1 - (1 - t/B)², after B/3 on average. It knows of its grant
// after the delay of a reply, and has read after the same delay more. If the late section has not ended by then, both
// act; it loses a write without a fence, since one has read before the write of the other. The fence check accepts the
// late write until the first write of the other client, and seal does not, since the read of the other client has
// raised the number.
package tune
