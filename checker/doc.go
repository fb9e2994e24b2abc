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
// # Causes
//
// A lock that no client has may still be taken for a while: [Timing.Within] has that time for each [promise.Cause]. A
// crash is a client that ended: it may have had the lock, or asked for it. A lost reply is an Acquire whose outcome its
// client does not know, or any absence of a client: what it had sent is lost, or arrives when it is back. An absence is
// no cause of an idle time that begins after its client has released, with success, a grant of the lock that it got
// since the absence began, which was over more than [Timing.Trips] before the call of that Release: on steady servers,
// of which one grants the lock, if the record of the nodes has the lock at the client when that grant was made, if the
// client had no other grant of it from the call of that Acquire to the return of that Release, and if no later Holding
// of the client became no grant. After the end of a lease, or its loss, what the servers keep of it may end later by
// the duration of the Acquire, since they count it from the arrival of the request.
//
// In a reentrant lock a crash, a Release that failed, and an Acquire that failed or whose
// outcome is not known may leave an entry behind, and each later entry of the client
// renews it; where clients send requests again by themselves ([Timing.Resends]), so may any
// absence. So each later Release of the client counts as that cause too. A lease that ended leaves its
// entry behind until its own Release has returned.
//
// # Duties
//
// A [promise.Duty] is judged only where nothing can excuse the lock: the client was not away, see [Timing.Away], and
// where that matters the servers were steady, see [Timing.Steady]. Nothing hindered a client from the call of an
// Acquire to an instant if it was not away meanwhile; nor in the [Timing.Trips] before the call, in which what it had
// sent may be under way; nor had crashed, or was not yet restarted, in the [Timing.Lease] and Trips before it; and no
// time of [Timing.Unlinked] has an instant of these. What was over before the call excuses nothing. These are the
// breaches:
//
//   - ends: an attempt returned more than [Timing.Trips] after its context had ended, or a grant more than
//     [GrantedWithin] after that end, and the client was not away from that end on; or an attempt that failed left its
//     place in the queue behind, although nothing had hindered its client from the call to the return; or, on steady
//     servers and where messages are in order ([Timing.InOrder]), the record of the nodes gave the lock to its client
//     after its call, and before the next call of Acquire by that client, and had it at the return of the attempt or
//     later, although nothing hindered the client from the call on. The last is judged where entry is exclusive, and
//     keys do not end with sessions ([History.SessionKeys]).
//   - waits: an attempt returned before its context had ended, although nothing had hindered its client, on
//     steady servers and a prompt network ([Timing.Prompt]).
//   - reports: a release succeeded on steady servers, and by the nodes' record its client had the lock without a gap
//     from the grant to the return of the release, or had it neither when the release was called nor at any time until
//     it returned; or a release returned and the context of the lease had not ended at the instant of its call,
//     although the client was not away from then to the return. The first is judged where entry is exclusive, unless a
//     request of the client came again meanwhile ([Holding.Again]) and it had been away between the call of Acquire and
//     the return: a late one enters a reentrant lock again; the first two only if by the record the client had the lock
//     at some time from the call of Acquire to the call of the release. Or, on steady servers and a prompt network, a
//     release failed before its context had ended, although by the record its client had the lock without a gap from
//     the grant to the call, and nothing had hindered it from the call of Acquire to the return, unless the lease and
//     the key had ended by the return, and the client deleted nothing meanwhile; or a release failed whose context had
//     ended when it was called, although by the record its client had the lock without a gap from the grant to the
//     return, and nothing had hindered it until the return (F29); or a release returned that the lock was not held,
//     although the client had it without a gap from the grant to the return, and nothing had hindered it until the
//     grant or, where keys end with sessions ([History.SessionKeys]), until the return. The last is judged where entry
//     is exclusive.
//   - renews: on steady servers and a prompt network the claim of a grant was ended by the lock, and its client had
//     not been away during the last third of a [Timing.Lease] before.
//   - tells: the validity of a lease ended after the grant and before its release, and the loss was announced more
//     than [ToldWithin] later, or not before a release that was called more than that later, and the client was not
//     away from that end to the announcement or the call; or, on steady servers and a prompt network, where entry is
//     exclusive, of a lock that does not promise [promise.DutyRenews], the loss was announced after the grant, before
//     the release and the crash, and more than [ToldWithin] before the end that the validity had at the grant
//     ([Grant.Left]), although by the record its client had the lock without a gap from the grant to the announcement,
//     and nothing had hindered it from the call of Acquire to the announcement; or the validity was over when the last
//     answer came ([Grant.OverBefore]), and the process of the client had not been stopped at the instant of the grant;
//     or, where entry is exclusive, the lock knew of the loss ([Grant.Known]) after the grant and before the end of the
//     validity, if that came, and announced it, or its holder called Release, more than [ToldWithin] later, before a
//     crash, and the client was not away from the first to the second, nor was an Extend of its under way when the lock
//     knew.
//   - tries: a try returned more than twice [Timing.Trips] after its call, and the client was not away from the call
//     to the return.
//   - explains: an attempt returned an error that does not wrap that of its context, which had ended, on steady
//     servers and a prompt network, and nothing had hindered the client from the call to the return.
//   - keeps: a lease was not as the lock says. The client sees that by itself: see [Grant.Unkept].
//   - returns: a [Call] with a time by which it had to return did so more than [Timing.Trips] later, and the client
//     ran all the time from the call to the return: it may have been away, see [Absence.Running].
//   - wakes: on steady servers and a prompt network a client waited for the lock, not by tries, and no client had it
//     for longer than twice [Timing.Trips], although no [promise.Cause] but [promise.CauseOther] had occurred by the
//     end of these two. An Acquire that returned without a grant by then is no such cause, if messages are in order
//     ([Timing.InOrder]) and entry is exclusive: it undoes what it asked for, and tells the next, within twice Trips
//     after its return, and whatever occurs by the end of those counts too.
//   - spares: on steady servers and a prompt network a client sent more requests than its [Pace] allows, and it ran
//     all the time meanwhile. From the call of an Acquire that did not ask by tries to its return these are for each
//     server 8, and 2 for each try, of which there may be one more than pauses fit into the time, and 4 for each
//     claim on the resource that ended, and each attempt that returned, meanwhile. If the lock promises
//     [promise.DutyRenews], they are from a grant to the end of its claim for each server 8, and 2 for each renewal,
//     of which there may be one more than fit into the time, and 4 for each time that a section extends the lease.
//     The 2 are 4 if the client was away meanwhile. The second is not judged if the client called Acquire for the
//     resource again meanwhile.
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
