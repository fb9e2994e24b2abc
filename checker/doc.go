// Package checker judges a history: what the clients of a lock saw.
//
// It turns a [History] into a [Verdict]: a label, the facts behind it, and
// sentences that explain them. It runs nothing, reads no clock and keeps no
// state, so every function may be called from several goroutines at once, and
// the same history always gives the same verdict, whatever the order in which
// its grants and operations are listed.
//
// # What it looks at
//
// Each [Grant] has two intervals of trace positions. Its claim is what the lock
// promises: from Acquire's return until the holder releases, the lock reports
// the loss, the validity ends on the holder's clock, or the holder crashes. Its
// belief is what the client acts on: it ends only with what the client has
// observed, so it can outlive the claim. Two claims that overlap mean that the
// lock broke its promise. Two beliefs that overlap, while the claims do not,
// mean that a client outlived its lease.
//
// The data shows whether that did harm. Every write stores its own id and the
// id that its section had read, so the final value leads back, write by write,
// to the initial one. An acknowledged write that is not on that path was lost.
// The check is exact and, apart from sorting, takes linear time.
//
// If a section makes several writes, as a transfer between two registers does,
// all of them must be in the data or none: otherwise the section is torn, and
// the sum of the registers has changed. Whole sections must have the same order
// in all registers. The reads of a section that wrote nothing are checked for
// each register separately.
//
// # What the nodes record
//
// Some facts need more than the clients saw: who deleted which keys
// ([Deletion]), who held the lock and when ([Holding]), when a request joined a
// queue ([Grant.Enqueued]). A history may lack all of that. It has no influence
// on the check of the data.
//
// # A second opinion
//
// [Corroborate] asks porcupine's independent search the same questions, of
// sequential models: a register, a set of registers, a lock with one owner or a
// reentrant one, a counter that grows, a fair queue.
//
// # Verdicts and errors
//
// A broken lock is a verdict, never an error. A history that contradicts itself
// comes from a broken harness: [Judge] returns [ErrMalformed]. If [Corroborate]
// ever contradicts a verdict, this package is broken.
//
// The verdict safe means that nothing went wrong in this one history. It proves
// nothing about any other.
package checker
