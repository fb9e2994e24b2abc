package checker

import (
	"fmt"
	"strings"

	"locksim/lock/promise"
)

// Data says what became of the protected data.
type Data string

// The states of the data.
const (
	// DataRight means that each acknowledged write is part of one history that
	// leads to the final value and respects real time, and that each section of
	// several writes is in it as a whole, or not at all. A write of unknown outcome
	// may be part of it, at any time after its call; a refused one, and one that was
	// never sent or failed, is no part of it. An acknowledged write takes effect at one
	// instant between the call of its section's read of the register and its own
	// return; any other answered read at one between its call and its return. A whole
	// section of several writes also takes effect in all registers at one instant
	// between the call of its first operation and the return of its last one.
	//
	// With [History.Fill] it means that each cell has a value in the end if a write of
	// it was acknowledged or a read found one; that no read found none which was called
	// after such a write or read had returned; and that what a read, or the end, found
	// is the id of a write, acknowledged or of unknown outcome, that had been called by
	// then.
	//
	// With [History.Fence] it means that no cell counts as stale_accepted, lost_updates or unexplained: see
	// [Facts.StaleForgotten].
	DataRight Data = "right"
	// DataCorrupted means that there is no such history.
	DataCorrupted Data = "corrupted"
	// DataUndecided means that the history has more than [MaxOperations]
	// operations. There is no other cause.
	DataUndecided Data = "undecided"
)

// Facts are the counts behind a verdict. An operation or grant is stale at some
// instant when a later grant of the same resource had already returned by then. In
// a reentrant lock, an entry of the same client is no later grant if it returned before
// the client ended the one under which the operation was sent: by a release or a crash,
// not by the end of its validity.
type Facts struct {
	// ClaimOverlaps counts pairs of grants of one resource whose claims overlap, of
	// one client too unless its lock is reentrant or [EntryOwnerless]: the lock broke its promise.
	ClaimOverlaps int `json:"claim_overlaps"`
	// BeliefOverlaps counts pairs of such grants whose holders believed at the same
	// time that they had the lock. A claim lies within its belief, so there are
	// never fewer of these than of overlapping claims.
	BeliefOverlaps int `json:"belief_overlaps"`
	// Data is the result of the exact check.
	Data Data `json:"data"`
	// LostUpdates counts the acknowledged writes that the final value knows nothing
	// of; with [History.Fill], those of a cell without a final value.
	LostUpdates int `json:"lost_updates"`
	// TornSections counts sections of which a part is in the data and a part is
	// not. A write that was lost from a section whose other write is there counts
	// as a lost update too: an update is gone, and the sum of the registers is no
	// longer kept. If both writes are lost, the sum is kept and nothing is torn. Nor
	// does a section count that wrote a register whose final value does not lead back
	// to the initial one: it is not known what took effect.
	TornSections int `json:"torn_sections"`
	// Oversold counts, with [History.Stock], the units that the acknowledged writes of a cell took, [Stock.Each] by each,
	// beyond its [Stock.Units].
	Oversold int `json:"oversold,omitzero"`
	// StaleAccepted counts stale writes that the store took. A stale read that
	// it answered is not counted: alone it changes nothing.
	StaleAccepted int `json:"stale_accepted"`
	// StaleRejected counts stale writes that the fence refused, and stale reads
	// too: a rule that seals on reads stops the section there, before its write.
	StaleRejected int `json:"stale_rejected"`
	// FalseRejects counts reads and writes that were refused although their
	// client was, at the store's instant, a rightful holder. It was one if the grant
	// that it used had a claim, no other grant had one (in a reentrant lock: none of
	// another client), and no other client had been granted the resource since. It
	// was one too, whatever others had been told, if by the record of the nodes it
	// had held the lock without a gap since the grant that it used, and still
	// believed in that grant: it had not released it, crashed, or stopped at an end
	// that it has observed.
	FalseRejects int `json:"false_rejects"`
	// StaleForgotten counts those of StaleAccepted, in a history with [History.Fence], before the call of which the store
	// had refused an operation with an equal or higher token, after it had answered one with the highest of those above
	// it: it had known the highest token, and has forgotten it.
	//
	// In such a history each cell counts once at most, by the first answer, in the order of the returns, up to which no
	// order of the operations on the cell gives all answers of a store that keeps the rule. An operation is in the order
	// at one instant between its call and its return; one of unknown outcome, or whose answer came later, at one after its
	// call, or nowhere. The rule takes a write whose token is not below the highest of those that count: of writes that
	// were taken and, under the rules other than check, of reads; under strict an equal token of another grant than the
	// first that sent it is refused. A taken write stores its value; of one of unknown outcome it may be that only the
	// token counts. The store may refuse an operation only if the rule would refuse a write with its token, or if a higher
	// token was seen in any operation that was not refused. A read finds the value of the last write that was taken; it
	// may be answered whatever its token is.
	//
	// If the answer is a refusal, the cell counts in FalseRejects. If it is that to a write, the cell counts in
	// StaleAccepted if an operation whose token counts and is higher, or under strict is equal and of another grant, had
	// been answered with success before its call, and else in Unexplained. If it is that to a read, the cell counts in
	// Unexplained if the read found what no write had sent by then, and in LostUpdates if a write of another value had
	// been acknowledged before the call of the read which what it found cannot follow: it is the initial value; or its
	// write has a lower token; or each copy of its write, the first and the retries, was refused or had returned before
	// the call of the one that is lost. Otherwise the cell counts in Unexplained. StaleRejected counts all refusals but
	// those that count in FalseRejects. Cells of which a search takes too many steps are undecided. The data is corrupted
	// if a cell counts in StaleAccepted, LostUpdates or Unexplained.
	StaleForgotten int `json:"stale_forgotten,omitzero"`
	// Overwritten counts those of LostUpdates, in such a history, in which a copy of the write that the read found was not
	// refused, and had not returned when the write that is lost was called, the last such one to return: it took the place
	// of that.
	Overwritten int `json:"overwritten,omitzero"`
	// Unexplained counts the other cells of such a history: see StaleForgotten.
	Unexplained int `json:"unexplained,omitzero"`
	// TokenRegressions counts grants with a token below that of a grant before
	// them: one which had returned before they were asked for or, if both have a
	// claim, one whose claim had ended before they returned. Token 0 is no token.
	TokenRegressions int `json:"token_regressions"`
	// TokenDuplicates counts grants with the token of an earlier grant, also of one
	// that was pending with them. Of two that returned at one position the one with
	// the lower ID is the earlier. An entry into a reentrant lock has the token of the
	// grant that it enters: it is no duplicate of grants of its own client if, when it
	// was asked for, one of those with that token had not been ended by a release or a
	// crash. In any lock a grant is no duplicate of those of its own client either if the
	// release of the last of those with that token returned an error other than that
	// the lock was not held, and the client had not crashed when it asked again: it may
	// still have had the lock.
	TokenDuplicates int `json:"token_duplicates"`
	// ForeignReleases counts the keys that a client deleted and another one had
	// set, on each node.
	ForeignReleases int `json:"foreign_releases"`
	// Overtaken counts the grants of a fair lock that came before one which had
	// joined the queue earlier and was still waiting, whether it waited for a grant
	// or gave up later. Waiters that had left the queue or given up are passed over, and
	// so are those of which it is not known when they joined it or, without a grant, left it. A
	// grant that is not known to have waited joined when it was asked for. Grants
	// with an empty claim count on neither side: it is not known when the node made
	// them.
	Overtaken int `json:"overtaken"`
	// Recomputed counts, in a history with [History.Fill], the computations of a value
	// beyond the first. A computation is a grant under which a write of the value was
	// sent, whatever its outcome: the work was done before.
	Recomputed int `json:"recomputed"`
	// WorkTwice counts those of them that the lock, with a second look after the
	// grant, should have prevented. There are two kinds. Another computation has an
	// earlier grant, its claim overlaps that of this one, the lock promised that they
	// do not (see ClaimOverlaps), and its write neither has an unknown outcome nor had
	// returned without success when this one was granted. Or a write of the value had
	// returned with success when this one was granted, and its read was answered.
	WorkTwice int `json:"work_twice"`
	// Panics counts the panics of the lock's code, each of which ended the process of a client: see [Panic].
	Panics int `json:"panics"`
	// HungCalls counts the calls other than an Acquire that had not returned when the time of the workload was over,
	// although most of the servers of the lock answered, or that never returned: see [Ending].
	HungCalls int `json:"hung_calls"`
	// Liveness says whether the lock could be taken again: see [Ending].
	Liveness Liveness `json:"liveness"`
	// Grants counts Acquires that succeeded.
	Grants int `json:"grants"`
	// Attempts counts Acquires that did not succeed.
	Attempts int `json:"attempts"`
	// Calls has all calls by how they ended.
	Calls Calls `json:"calls"`
	// IdleSeconds is the time in which a client waited for the lock, no client had
	// it, and no client got it: see [Timing]. The context of its Acquire had not ended; the client ran and reached the
	// servers; no client claimed the lock, believed that it had it, was releasing it, or was
	// away while it asked for it. One backoff and one round trip are subtracted from
	// each such time of each Acquire; time in which two were pending, for one lock or
	// two, counts once.
	IdleSeconds float64 `json:"idle_seconds"`
	// Overdue counts the idle times, those of each Acquire, that lasted longer than
	// their cause allows: see [Timing.Within].
	Overdue int `json:"overdue"`
	// Denied counts the attempts that returned in a calm run, before the end of
	// their context, although no other client asked for the lock meanwhile, or had been granted it and had not
	// returned from releasing it.
	Denied int `json:"denied"`
	// SelfExcluded counts the Acquires whose key kept their own client out. They returned without a grant. By the record
	// of the nodes the client had the lock from a position after the call of the Acquire, and before its next call of
	// Acquire; and still had it while a later Acquire of the client for the lock was pending, at an instant more than
	// twice [Timing.Trips] after the return, and after that position, and more than Trips after that later call, since it
	// may be granted the lock by its old key, and before a grant to the client. The client was not away, but for trouble
	// behind the servers ([Absence.Behind]), from Trips before the return to that instant, where an absence that was no
	// longer than Trips, in which it ran, and which was over at the return, is none if what the client next sent, after
	// the beginning of the absence, it sent at its next call of Acquire or later: it did not try to clean up; and if it
	// had been away before, the instant is also more than twice Trips after it heard from a server again ([Timing.Heard]):
	// without a connection it cannot clean up. It is judged on steady servers ([Timing.Steady]) where entry is exclusive,
	// and only if messages are in order ([Timing.InOrder]) or that position was Trips or more before the return: else the
	// request may have overtaken the one that was to undo it. Nor is it judged if the client was away, in any way, at an
	// instant from Trips before the call to the call, and had called Acquire for the lock before: that request may come
	// late. Nor if the client had crashed at the call or before: what the process that crashed had asked for may be
	// granted when its turn comes.
	//
	// Acquires count too, with a grant or without, whose key kept their own client out before they
	// returned: where messages are in order, the client had the lock by that record from a position
	// after the call to one before the return, did not delete its key itself at that position, and
	// had sent the request again meanwhile ([Holding.Again]), more than twice Trips before the end;
	// it was not away, but for trouble behind the servers, from Trips before that request to twice
	// Trips after it.
	SelfExcluded int `json:"self_excluded"`
	// SelfWaits counts the Acquires, with [EntryReentrant] or [EntryOwnerless], that waited for their own client: it had a
	// claim on the resource by another grant when it called, and was not granted the lock while that claim lasted. That
	// took longer than [Timing.Trips], from the call to the return, to the end of the claim or to the first trouble
	// ([Timing.Undisturbed]), whichever comes first. It is judged on a prompt network ([Timing.Prompt]).
	SelfWaits int `json:"self_waits,omitzero"`
	// Starved counts the Acquires that starved. Of those that returned before the first trouble ([Timing.Undisturbed]) and
	// were kept out, since another client had a claim on the resource while they were pending, such a one took more than
	// ten times the median of the resource, of ten at least, from its call to its return; the median of an even number is
	// the upper one of the two. And ten grants of the resource or more to other clients, which were asked for after it,
	// returned before it did.
	Starved int `json:"starved,omitzero"`
	// StarvedInTurn counts those of Starved with [History.Ordered].
	StarvedInTurn int `json:"starved_in_turn,omitzero"`
	// LateGrants counts the grants whose claim is empty: the lease had ended, or
	// was lost, when Acquire returned.
	LateGrants int `json:"late_grants"`
	// VoidGrants counts the grants that cannot have been meant so: their lease
	// ended at or before the call of Acquire, or the lock had announced its loss before
	// Acquire returned ([Grant.LostBefore]), or, in a calm run, it was lost or ended
	// before their holder released it.
	VoidGrants int `json:"void_grants"`
	// RevivedClaims counts the grants whose validity was moved into the future again
	// after it had ended and then another grant had returned, with a claim; in a
	// reentrant lock, one to another client.
	RevivedClaims int `json:"revived_claims"`
	// Misconduct counts the calls that did not end as the lock promises, see [promise.Duty], and the losses that were
	// noticed too late. Of these it counts the grants of which, on steady servers ([Timing.Steady]) and a prompt network
	// ([Timing.Prompt]), a loss by the record of the nodes was noticed later than [History.Detection] and twice
	// [Timing.Trips] allow: see NoticedLateSeconds.
	Misconduct int `json:"misconduct"`
	// NoticedLateSeconds is the longest time after the loss of a lock in which its holder could have been told and was
	// not. By the record of the nodes, the lock of a grant is lost at the end of the [Holding] of its client that has the
	// position of the grant in it, at the instant [Holding.Ended] if it has one. Where the record has no holding of the
	// resource, or does not say when the lock is lost ([History.ManyKeys]), it is lost at the first later grant to another
	// client that has a claim. The time ends at the first of the call of Release, Lost, Until and crash, and by the record
	// too where the next Holding of the client begins. Of it the longest part counts in which the client was not away
	// ([Timing.Away]). A grant that none of these ends does not count.
	NoticedLateSeconds float64 `json:"noticed_late_seconds"`
	// FailedCalls counts the calls of Acquire, Release and Extend that returned an error although nothing was wrong: on a
	// prompt network ([Timing.Prompt]), before the first fault struck ([Timing.Undisturbed]) and before the context of any
	// call had ended before the call returned. An Acquire that returned that the lock is taken does not count. Any other
	// one counts if the lock names the errors with which it says that ([History.TakenNamed]), or if from its call to its
	// return no other client had a lock or asked for one, each grant before had been released with success before its
	// lease ended, and each Acquire before had been granted; in a reentrant lock the grants of the client itself need not
	// have been released. A Release or an Extend counts if by its return, and by [Timing.Trips] after its call, the lease
	// had not ended or been lost, and no other grant of the resource, in a reentrant lock none to another client, had been
	// made which had not been released when this one was; an Extend not after the call of Release, and one that the lock
	// is not held not in a reentrant lock, nor one that the lease may not be extended any more. A lock over three nodes or
	// more needs only a majority of them: an Acquire counts too if not all was undisturbed and a majority was
	// ([Timing.Majority]), and it returned sooner after its call than half a [Timing.Lease], so that no node which did not
	// answer used up the validity of what the others had granted.
	FailedCalls int `json:"failed_calls"`
	// Withheld counts the Acquires that were not granted a lock that was free, although nothing was wrong until then, as
	// for FailedCalls: a grant had been made and, when the Acquire was called, no other client had a lock or asked for
	// one, each grant had been released with success before its lease ended, and each Acquire before had been granted;
	// in a reentrant lock the grants of the client itself need not have been released. More than [Timing.Alone] after the
	// client first sent something, it had not returned, and no other client had asked.
	Withheld int `json:"withheld"`
	// ActedAtOnce counts, in a history with [History.Leads], the pairs of grants of one resource whose clients acted at
	// once. A grant's client acts from the first to the last position at which the store decided on an operation under it,
	// or at which one was called that did not reach the store. Two act at once if one of these positions of one of them
	// lies between the first and the last one of the other. Such grants are of two clients, or of one whose lock is not
	// reentrant. What the store answered does not matter.
	ActedAtOnce int `json:"acted_at_once,omitzero"`
	// ActedAtOnceSeconds is the time of these pairs: from the later one of their two first positions to the earlier one of
	// their two last ones. Time of two pairs, for one lock, counts once.
	ActedAtOnceSeconds float64 `json:"acted_at_once_seconds,omitzero"`
	// ActedAfterLossSeconds is, in such a history, the longest time from the loss of a grant, by what NoticedLateSeconds
	// says of it, to the last such position of it after that and, by the record, before the next Holding of the client
	// began.
	ActedAfterLossSeconds float64 `json:"acted_after_loss_seconds,omitzero"`
	// LeaderlessSeconds is, in such a history, the longest time in which at each instant an Acquire was pending of a
	// client that was not away and whose context had not ended, and no client led: none had a claim and ran
	// ([Timing.Away], where one that is [Absence.Running] ran).
	LeaderlessSeconds float64 `json:"leaderless_seconds,omitzero"`
	// LeaderlessOverdue counts such times, those of each Acquire, that went on after the lock had to be free again: longer
	// than [Timing.Leaderless] and a Grace after their beginning, after a cause as for Overdue, and after the return of a
	// Release, as far as each of these came before the time was over that was allowed until then. It is judged
	// on steady servers ([Timing.Steady]).
	LeaderlessOverdue int `json:"leaderless_overdue,omitzero"`
	// Holders counts the clients that have had a claim.
	Holders int `json:"holders"`
	// Contended counts the Acquires, of both outcomes, that were pending while
	// another client had a claim on the resource. One that never returned counts as
	// pending only when it was called. Without contention, safe says little.
	Contended int `json:"contended"`
	// Operations counts reads and writes of any outcome.
	Operations int `json:"operations"`
}

// factRows are the facts, in the order in which their sentences explain a verdict: what harms first, as the labels
// have it, then what led to it.
var factRows = []Fact{
	{Name: "data", Label: Corrupted, Title: "Data", Note: "by the exact check",
		Means: "`right`, `corrupted` or `undecided`. Every write stores its id and the id of the value on which " +
			"it is based, so the final value leads back, write by write, to the first. With the workload `fill` all " +
			"writes of a register store the same value, and the data is right if the value is there from some " +
			"instant on.",
		set:    func(e *examined, f *Facts) { f.Data = e.data.data },
		find:   func(e *examined) finding { return finding{reasons: e.fenced.deciding()} },
		has:    func(f *Facts) bool { return f.Data == DataCorrupted },
		shown:  func(f *Facts) string { return string(f.Data) },
		breaks: mustBeRight},
	{Name: "lost_updates", Label: Corrupted, Title: "Lost updates", Note: "acknowledged, and not in the data",
		Means: "Acknowledged writes that are not on that path.",
		count: func(f *Facts) *int { return &f.LostUpdates },
		find:  func(e *examined) finding { return e.data.lost.finding() }},
	{Name: "torn_sections", Label: Corrupted, Title: "Torn sections", Note: "only a part is in the data",
		Means: "Sections of several writes of which a part is in the data and a part is not, as far as the final " +
			"values show what took effect.",
		count: func(f *Facts) *int { return &f.TornSections },
		find:  func(e *examined) finding { return e.data.torn.finding() }},
	{Name: "oversold", Label: Corrupted, Title: "Units taken beyond the stock", Note: "by acknowledged writes",
		Means: "With the workload `stock`: the units that acknowledged sections took, beyond those that there were.",
		count: func(f *Facts) *int { return &f.Oversold },
		find:  func(e *examined) finding { return oversold(e.History) }},
	{Name: "stale_forgotten", Label: Corrupted, Of: OfFence, Title: "Stale writes taken after refusals",
		Note: "the store has forgotten the highest token",
		Means: "Of a store that is itself under test, which is judged by its answers: those of `stale_accepted` " +
			"before which it had refused others, so that it has forgotten the highest token.",
		count: func(f *Facts) *int { return &f.StaleForgotten },
		// Its sentences are those of the data.
		find: func(e *examined) finding { return finding{count: e.fenced.forgotten.count} }},
	{Name: "overwritten", Label: Corrupted, Of: OfFence, Title: "Updates lost to a stale write",
		Means: "Of such a store: those of `lost_updates` whose place a stale write took.",
		count: func(f *Facts) *int { return &f.Overwritten },
		find:  func(e *examined) finding { return finding{count: e.fenced.overwritten.count} }}, // as lost updates
	{Name: "unexplained", Label: Corrupted, Of: OfFence, Title: "Answers without an order",
		Means: "Of such a store: answers that no order of the operations explains.",
		count: func(f *Facts) *int { return &f.Unexplained },
		// Of any store the sentences say what else is wrong with the data.
		find: func(e *examined) finding {
			return finding{count: e.fenced.unexplained.count, reasons: e.data.wrong.sentences()}
		}},
	{Name: "panics", Label: Panicked, Title: "Panics of the lock", Note: "each ended a process",
		Means: "Panics of the lock's code in a goroutine of a client, and calls of `runtime.Goexit` there: each " +
			"ends the client's process. One in a goroutine that the lock has started ends the run too, which is " +
			"judged up to there: nothing is known of the rest.",
		count:  func(f *Facts) *int { return &f.Panics },
		find:   func(e *examined) finding { return panics(e.History).finding() },
		breaks: always},
	{Name: "liveness", Label: Stuck, Title: "Lock can be taken again",
		Means: "`ok`; `stuck` when an Acquire, of the probe or of the workload, was not granted in time although " +
			"the network was whole or only a minority of the servers was out of reach, or when a client asks for " +
			"the lock, loops or waits for its own code for ever; `leaked` when a key of the lock remained after its " +
			"use.",
		set:    func(e *examined, f *Facts) { f.Liveness, _ = e.Liveness() },
		find:   func(e *examined) finding { return finding{reasons: livenessReasons(e.History)} },
		has:    func(f *Facts) bool { return f.Liveness != LivenessOK },
		shown:  func(f *Facts) string { return string(f.Liveness) },
		breaks: func(f *Facts, a Asked) bool { return a.Hung && f.Liveness == LivenessStuck || mustBeFree(f, a) },
		ending: func(f *Facts) string {
			if f.Liveness == LivenessLeaked {
				return "the lock left a key behind"
			}
			return ""
		}},
	{Name: "idle_seconds", Title: "Idle time", Note: "no client had the lock, and one waited",
		Means: "The time in which a client waited for the lock, no client had it and no client got it. The " +
			"context of its acquire had not ended, it ran, and its links were whole; no client claimed the lock, " +
			"believed that it had it, was releasing it, or was paused or cut off while it asked for it. One backoff " +
			"and one round trip are subtracted from each such time of each acquire; time in which two clients " +
			"waited counts once.",
		seconds: func(f *Facts) *float64 { return &f.IdleSeconds },
		find:    func(e *examined) finding { return finding{time: e.idle.total} },
		shown: func(f *Facts) string {
			return fmt.Sprintf("%s, overdue %d", secondsText(f.IdleSeconds), f.Overdue)
		}},
	{Name: "overdue", Label: Stuck,
		IgnoredOnTrial: true, // that a lock which is free is not taken at once is not asked there
		Means: "The idle times, those of each acquire, that lasted longer than the promise allows after their " +
			"cause: a crash, a lost reply, a cancelled acquire, a failed release, an expired lease, or another one. " +
			"A cause counts if it occurred before the time was over that was allowed until then; of several, the " +
			"one that allows most decides. So what the waiting client does in the end (it gives up, crashes, is " +
			"paused) excuses nothing. Where no idle time of a single acquire is overdue, those over all acquires " +
			"count: a client that asks again and again, or that is away for an instant while it waits, begins no " +
			"new one. In such a time the acquires that one client gave up, and its absences, are one cause, unless " +
			"by the servers' record a request took the lock; and a release that is under way takes the round trips " +
			"of a call, if its client runs and its links are whole.",
		count:  func(f *Facts) *int { return &f.Overdue },
		find:   func(e *examined) finding { return e.idle.overdue.finding() },
		breaks: mustBeFree,
		ending: ends("the lock was free, and nobody got it")},
	{Name: "leaderless_seconds", Of: OfLeaders, Title: "No client led for", Note: "at most, while one campaigned",
		Means: "The longest time in which a client campaigned that ran and reached the servers, and no client " +
			"led.",
		seconds: func(f *Facts) *float64 { return &f.LeaderlessSeconds },
		find:    func(e *examined) finding { return finding{time: e.leaders.leaderless} },
		shown: func(f *Facts) string {
			return fmt.Sprintf("%s, overdue %d", secondsText(f.LeaderlessSeconds), f.LeaderlessOverdue)
		}},
	{Name: "leaderless_overdue", Label: Stuck, Of: OfLeaders,
		Means:  "Such times, those of each acquire, that lasted longer than the lock promises.",
		count:  func(f *Facts) *int { return &f.LeaderlessOverdue },
		find:   func(e *examined) finding { return e.leaders.overdue.finding() },
		breaks: mustBeFree,
		ending: ends("the lock was free, and nobody got it")},
	{Name: "denied", Label: Stuck, Title: "Acquires refused in a calm run", Note: "although nobody else asked",
		Means: "In a calm run: acquires that returned without a grant before their context had ended, although " +
			"no other client asked for the lock, or had been granted it and had not finished releasing it.",
		count:  func(f *Facts) *int { return &f.Denied },
		find:   func(e *examined) finding { return denied(e.History).finding() },
		breaks: mustBeFree,
		ending: ends("a lock that was free was refused")},
	{Name: "withheld", Label: Stuck, Title: "Acquires kept from a free lock", Note: "although nothing was wrong",
		Means: "Acquires that were not granted a lock that was free, although nothing was wrong: it had been " +
			"granted and released with success, no other client had it or asked for it, and the client waited for " +
			"longer than a quarter of a lease, and than its requests may take. A lock that stays taken for a while " +
			"after a release says so in its promise: `FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: " +
			"…}`.",
		count:  func(f *Facts) *int { return &f.Withheld },
		find:   func(e *examined) finding { return withheld(e.History).finding() },
		breaks: mustBeFree,
		ending: ends("a lock that was free was refused")},
	{Name: "self_excluded", Label: Stuck, Title: "Acquires whose key kept their own client out",
		Means: "Acquires that returned without a grant and whose key, by the servers' record, kept their own " +
			"client out when it asked again, longer than a few round trips later, although the client ran, its " +
			"links were whole, and it had heard from a server since it lost one; and Acquires whose key kept their " +
			"own client out before they returned, when it asked again: a request whose reply was lost had taken the " +
			"lock. Of locks that a client does not enter again, where all messages take as long and the servers " +
			"keep what they have.",
		Remedy: "Mend the lock: after a request without an answer, delete what it may have set. A lock that lives with " +
			"that says so in its promise: SelfExcludes, or ResendExcludes where its client sends a request again by " +
			"itself.",
		count:  func(f *Facts) *int { return &f.SelfExcluded },
		find:   func(e *examined) finding { return selfExcluded(e.History).finding() },
		breaks: func(_ *Facts, a Asked) bool { return !a.Promise.SelfExcludes },
		ending: ends("a client was kept out by its own key")},
	{Name: "self_waits", Label: Stuck, Title: "Acquires that waited for their own client",
		Means: "Acquires of a client that had the lock already, under another grant, and that were not granted while that " +
			"lasted, although nothing had gone wrong. A lock without owners promises nothing of it; it breaks the promise " +
			"of a reentrant one.",
		Remedy: "Use a reentrant lock, or take the lock once, in the code that is called from outside.",
		count:  func(f *Facts) *int { return &f.SelfWaits },
		find:   func(e *examined) finding { return selfWaits(e.History).finding() },
		breaks: always,
		ending: ends("a client waited for itself")},
	{Name: "hung_calls", Label: Hung, Title: "Calls that did not return", Note: "but Acquires",
		Means: "Calls other than an Acquire (Release, Extend) that had not returned when the time of the " +
			"workload was over, for longer than a lease, although most of the servers of the lock answered; and " +
			"those that never returned.",
		count:  func(f *Facts) *int { return &f.HungCalls },
		find:   func(e *examined) finding { return hungCalls(e.History).finding() },
		breaks: func(f *Facts, a Asked) bool { return a.Hung || mustReturn(f, a) }},
	{Name: "false_rejects", Label: FalseReject, Title: "Rightful holders refused",
		Means: "Operations of a rightful holder that the fence refused: the only one with a claim, or the one " +
			"that by the servers' record had held the lock since its grant.",
		count:  func(f *Facts) *int { return &f.FalseRejects },
		find:   func(e *examined) finding { return e.fencing.falsely.finding() },
		breaks: func(f *Facts, a Asked) bool { return mustBeRight(f, a) && a.Mode.NeedsToken() }},
	{Name: "late_grants", Title: "Grants that came too late",
		Means: "Grants whose lease had ended when Acquire returned. Under a fault that is allowed; such a claim " +
			"is empty and keeps no client out.",
		count: func(f *Facts) *int { return &f.LateGrants },
		find:  func(e *examined) finding { return finding{count: lateGrants(e.History)} }},
	{Name: "void_grants", Label: Void, Title: "Grants without a lease", Note: "the lock promised nothing",
		Means: "Grants that promise nothing: the lease had ended before Acquire was called; or the lock knew " +
			"that it was lost when the last answer came, and Acquire returned it all the same; or, in a calm run, " +
			"it ended before the holder released it. A loss that comes in the instant in which Acquire returns " +
			"without a new answer, such as the end of a pause, is not the lock's fault.",
		count:  func(f *Facts) *int { return &f.VoidGrants },
		find:   func(e *examined) finding { return voidGrants(e.History).finding() },
		breaks: always},
	{Name: "revived_claims", Label: Revived, Title: "Leases that were revived",
		Means: "Leases whose end was moved into the future after it had passed and then the lock had been " +
			"granted again, in a reentrant lock to another client.",
		Remedy: "Mend the lock: a lease that has ended must not be extended. Compare the owner and extend in one step, " +
			"and return that it is not held.",
		count:  func(f *Facts) *int { return &f.RevivedClaims },
		find:   func(e *examined) finding { return revivedClaims(e.History).finding() },
		breaks: always},
	{Name: "misconduct", Label: Misconduct, Title: "Calls that did not end as promised",
		Means: "Calls that did not end as the lock promises: see the duties. And the grants of a lock that is " +
			"held until it is told whose holder learned of their loss later than the lock's `Detection` and a few " +
			"round trips allow, on servers that kept what they had.",
		count: func(f *Facts) *int { return &f.Misconduct },
		find: func(e *examined) finding {
			return misconduct(e.History, e.records).finding().and(e.noticed.untold.finding())
		},
		breaks: always},
	{Name: "noticed_late_seconds", Title: "Losses were noticed late by", Note: "at most: the holder could have been told",
		Means: "The longest time after the loss of a lock in which its holder could have been told, and was not: " +
			"it ran and its links were whole, without interruption. The lock is lost when, by the servers' record, " +
			"the client has its key no more; without such a record, when another client is granted it. The time " +
			"ends when the lock announces the loss, the lease ends on its holder's clock, the holder calls Release " +
			"or crashes, or it has the key again.",
		seconds: func(f *Facts) *float64 { return &f.NoticedLateSeconds },
		find:    func(e *examined) finding { return finding{time: e.noticed.longest} }},
	{Name: "failed_calls", Label: Misconduct, Title: "Calls that failed", Note: "although nothing was wrong",
		Means: "Calls that failed although nothing was wrong, which breaks the promise of every lock: before the " +
			"first fault struck and before the context of any call had ended, on a network in which requests are " +
			"answered in time. An Acquire counts if its client was alone: no other one had a lock or asked for one " +
			"meanwhile, and all that was granted before had been released. If the lock names the errors with which " +
			"it says that it is taken (`Taken`), every other error counts. A Release or an Extend counts if its " +
			"lease had not ended and no other client had been granted the lock. A lock over three nodes or more " +
			"needs a majority of them: an Acquire counts also after faults, if all of them struck the same minority " +
			"of the nodes, or the links to it (cuts, delays, resets, stalls, crashes), and it failed within half a " +
			"lease.",
		count:  func(f *Facts) *int { return &f.FailedCalls },
		find:   func(e *examined) finding { return failedCalls(e.History).finding() },
		breaks: always},
	{Name: "overtaken", Label: Overtaken, Title: "Waiters that were overtaken", Note: "by one that had come later",
		Means: "Grants of a fair lock to a client while another one that had joined the queue earlier was still " +
			"waiting, by the server's record of the queue. A waiter that was paused, cut off or crashed may lose " +
			"its place. Late grants do not count.",
		count:  func(f *Facts) *int { return &f.Overtaken },
		find:   func(e *examined) finding { return overtaken(e.History).finding() },
		breaks: func(_ *Facts, a Asked) bool { return a.Promise.Order == promise.FIFO }},
	{Name: "starved_in_turn", Label: Overtaken, Title: "Waiters that starved in a lock with an order",
		Means:  "Those of `starved`, of a lock that promises an order.",
		count:  func(f *Facts) *int { return &f.StarvedInTurn },
		find:   func(e *examined) finding { return starvedInTurn(e.History).finding() },
		breaks: func(_ *Facts, a Asked) bool { return a.Promise.Order == promise.FIFO }},
	{Name: "starved", Title: "Acquires that starved", Note: "ten times the median wait",
		Means: "Acquires that were kept out and waited for more than ten times the median of all that were kept out, " +
			"of ten at least, while ten grants or more went to others that had asked later. It is counted up to the " +
			"first fault. A lock without an order may starve a client.",
		count: func(f *Facts) *int { return &f.Starved },
		find:  func(e *examined) finding { return finding{count: starved(e.History).count} }},
	{Name: "work_twice", Label: Repeated, Title: "Work done twice", Note: "the lock should have prevented it",
		Means: "With the workload `fill`: computations of a value that had been computed, which the lock, with a second " +
			"look after the grant, should have prevented: the claim of another section that computed the value " +
			"overlapped, and its write had neither failed before the grant nor an unknown outcome; or the value had been " +
			"stored before the grant and the client read it.",
		count: func(f *Facts) *int { return &f.WorkTwice },
		find:  func(e *examined) finding { return e.twice.finding() },
		// in every mode: a fence protects the store, and not the work
		breaks: always},
	{Name: "recomputed", Label: Repeated, Title: "Work done again", Note: "whatever the reason",
		Means: "All such computations of a value beyond the first, whatever the reason. A section that sent a write of " +
			"the value has computed it, whatever became of the write.",
		count: func(f *Facts) *int { return &f.Recomputed },
		find: func(e *examined) finding {
			return finding{count: e.twice.count + e.again.count, reasons: e.again.sentences()}
		}},
	{Name: "claim_overlaps", Label: Overlap, Title: "Claims that overlap", Note: "the lock broke its promise",
		Means:  "Pairs of grants whose claims overlap: the lock had two holders at once.",
		count:  func(f *Facts) *int { return &f.ClaimOverlaps },
		find:   func(e *examined) finding { return claimOverlaps(e.History).finding() },
		breaks: always},
	{Name: "belief_overlaps", Label: Overlap, Title: "Beliefs that overlap", Note: "a client outlived its lease",
		IgnoredOnTrial: true, // that a holder is late is how the store is tried
		Means: "Pairs of grants whose holders believed at once that they had the lock. A claim lies within its belief, so " +
			"these are never fewer than `claim_overlaps`.",
		count: func(f *Facts) *int { return &f.BeliefOverlaps },
		find: func(e *examined) finding {
			count, alone := beliefOverlaps(e.History)
			return finding{count: count, reasons: alone.sentences()}
		}},
	{Name: "acted_at_once", Label: Overlap, Of: OfLeaders, Title: "Leaders that acted at once",
		Note:  "pairs, and for how long",
		Means: "Pairs of grants whose clients acted at once.",
		count: func(f *Facts) *int { return &f.ActedAtOnce },
		find:  func(e *examined) finding { return e.leaders.atOnce.finding() },
		shown: func(f *Facts) string {
			return fmt.Sprintf("%d, %s", f.ActedAtOnce, secondsText(f.ActedAtOnceSeconds))
		}},
	{Name: "acted_at_once_seconds", Of: OfLeaders,
		Means:   "For how long they did.",
		seconds: func(f *Facts) *float64 { return &f.ActedAtOnceSeconds },
		find:    func(e *examined) finding { return finding{time: e.leaders.together} }},
	{Name: "acted_after_loss_seconds", Of: OfLeaders, Title: "A leader acted after its loss for", Note: "at most",
		Means:   "The longest time from the loss of a lock to the last operation under its grant.",
		seconds: func(f *Facts) *float64 { return &f.ActedAfterLossSeconds },
		find:    func(e *examined) finding { return finding{time: e.leaders.afterLoss} }},
	{Name: "stale_rejected", Label: Rescued, Title: "Stale operations refused",
		Means: "Reads and writes of a client after a later grant had returned, which the fence refused.",
		count: func(f *Facts) *int { return &f.StaleRejected },
		find:  func(e *examined) finding { return e.fencing.rejected.finding() }},
	{Name: "stale_accepted", Title: "Stale writes taken",
		Means: "Writes of a client after a later grant had returned, which the store accepted.",
		count: func(f *Facts) *int { return &f.StaleAccepted },
		find: func(e *examined) finding {
			return finding{count: e.fencing.accepted.count, reasons: e.fencing.acceptedBy(e.History)}
		}},
	{Name: "token_regressions", Label: Regressed, Title: "Tokens that went back",
		Means: "Grants whose token is below that of a grant before them: one that had returned before they were " +
			"asked for, or whose claim had ended before theirs began.",
		count:  func(f *Facts) *int { return &f.TokenRegressions },
		find:   func(e *examined) finding { return e.tokens.regressions.finding() },
		breaks: mustGrow},
	{Name: "token_duplicates", Label: Regressed, Title: "Tokens given out twice",
		Means: "Grants whose token is that of an earlier grant, also of one that was pending with them. The " +
			"entries of one hold of a reentrant lock share its token, and a client whose release failed may be " +
			"granted what it still has.",
		count:  func(f *Facts) *int { return &f.TokenDuplicates },
		find:   func(e *examined) finding { return e.tokens.duplicates.finding() },
		breaks: mustGrow},
	{Name: "foreign_releases", Title: "Keys of another deleted", Besides: true,
		Means: "Keys that one client set and another one deleted.",
		count: func(f *Facts) *int { return &f.ForeignReleases },
		find:  func(e *examined) finding { return foreignReleases(e.History).finding() }},
	{Name: "calls", Title: "Calls", Note: "by how they ended",
		Means: "All calls by how they ended. An Acquire (or TryAcquire) was `granted`; returned that the lock is " +
			"`taken`; `gave_up`, at the end of its context or while another client had the lock or asked for it; or " +
			"`failed`. An Extend `extended` the lease, did not since the lock was not held (`not_extended`), or " +
			"failed (`failed_extends`); one whose error wraps `errors.ErrUnsupported` is not counted. A Release " +
			"`released` the lock, returned `not_held`, or failed (`failed_releases`). The errors are beside the " +
			"facts, in `errors`, and on the pass line of a test.",
		set:   func(e *examined, f *Facts) { f.Calls = countCalls(e.History) },
		has:   func(f *Facts) bool { return f.Calls != Calls{} },
		shown: func(f *Facts) string { return strings.Join(f.Calls.Texts(), "; ") }},
	{Name: "contended", Title: "Acquires contended",
		Means: "Acquires that were pending while another client had a claim: they were kept out.",
		count: func(f *Facts) *int { return &f.Contended },
		find:  func(e *examined) finding { return finding{count: contended(e.History)} },
		shown: func(f *Facts) string { return fmt.Sprintf("%d of %d", f.Contended, f.Grants+f.Attempts) }},
	{Name: "grants",
		Means: "Acquires that succeeded.",
		count: func(f *Facts) *int { return &f.Grants },
		find:  func(e *examined) finding { return finding{count: len(e.Grants)} }},
	{Name: "attempts",
		Means: "Acquires that did not.",
		count: func(f *Facts) *int { return &f.Attempts },
		find:  func(e *examined) finding { return finding{count: len(e.Attempts)} }},
	{Name: "holders",
		Means: "Clients that have had a claim.",
		count: func(f *Facts) *int { return &f.Holders },
		find:  func(e *examined) finding { return finding{count: holders(e.History)} }},
	{Name: "operations",
		Means: "Reads and writes, of any outcome.",
		count: func(f *Facts) *int { return &f.Operations },
		find:  func(e *examined) finding { return finding{count: len(e.Ops)} }},
}
