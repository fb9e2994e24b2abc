// Package checker judges what the clients of a lock saw.
//
// It takes a [History] and gives a [Verdict]: a label, the facts behind it, and
// sentences that explain them. It runs nothing, reads no clock and keeps no
// state, so every function here may be called from several goroutines at once,
// and the same history always gives the same verdict, in whatever order its
// grants and operations are listed.
//
// # What it looks at
//
// Each [Grant] has two intervals of trace positions. Its claim is what the lock
// promises: from Acquire's return until the holder releases, is told of the
// loss, runs out of validity on its own clock, or crashes. Its belief is what
// the client acts on: it ends only with what the client has observed, so it can
// outlive the claim. Two claims that overlap mean that the lock broke its
// promise. Two beliefs that overlap, while the claims do not, mean that a client
// outlived its lease.
//
// Whether that did harm is seen in the data. Every write stores its own id and
// knows the id that its section had read, so the final value leads back, write
// by write, to the beginning. An acknowledged write beside that path was lost.
// The check is exact and, apart from sorting, takes linear time.
//
// Where a section makes several writes, as a transfer between two registers does,
// it must be in the data as a whole or not at all: else it is torn, and the sum of
// the registers is not kept. Whole sections must have come in the same order in
// all registers. What a section read that wrote nothing is held against each
// register for itself only.
//
// # What the nodes know
//
// Some facts need more than the clients saw: which keys were deleted by whom
// ([Deletion]), who held the lock and when ([Holding]), who joined a queue where
// ([Grant.Enqueued]). Those who record a run may leave all of that out. It never
// decides about the data.
//
// # A second opinion
//
// [Corroborate] asks the independent search of porcupine the same questions, of
// sequential models: a register, a set of registers, a lock with one owner or a
// reentrant one, a counter that grows, a fair queue.
//
// # Not every surprise is a verdict
//
// A broken lock is a verdict, never an error. A history that contradicts itself
// comes from a broken harness: [Judge] returns [ErrMalformed]. And if
// [Corroborate] ever contradicts a verdict, this package is what is broken.
//
// A verdict of safe says that nothing went wrong in this one history. It proves
// nothing about the next one.
package checker
