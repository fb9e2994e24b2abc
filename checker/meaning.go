package checker

// Fact is what a verdict counts, as a person reads of it. The fields of [Facts] have the exact definitions.
type Fact struct {
	// Names are those of fields of [Facts], as JSON has them: of one fact, or of several that are read together.
	Names []string
	// Means says what they count.
	Means string
	// Leads says that they are counted in histories of leaders alone, see [History.Leads].
	Leads bool
}

// FactList has each field of [Facts] in one row, in the order in which a person reads them. The caller owns the slice.
func FactList() []Fact {
	return []Fact{
		{Names: []string{"claim_overlaps", "belief_overlaps"},
			Means: "Pairs of grants that overlap. A claim lies within its belief, so the second is never smaller."},
		{Names: []string{"data"},
			Means: "`right`, `corrupted` or `undecided`. Every write stores its id and the id of the value on which " +
				"it is based, so the final value leads back, write by write, to the first. With the workload `fill` all " +
				"writes of a register store the same value, and the data is right if the value is there from some " +
				"instant on."},
		{Names: []string{"lost_updates"},
			Means: "Acknowledged writes that are not on that path."},
		{Names: []string{"torn_sections"},
			Means: "Sections of several writes of which a part is in the data and a part is not, as far as the final " +
				"values show what took effect."},
		{Names: []string{"stale_accepted", "stale_rejected"},
			Means: "Operations of a client after a later grant had returned: writes that the store accepted, and " +
				"reads and writes that the fence refused."},
		{Names: []string{"false_rejects"},
			Means: "Operations of a rightful holder that the fence refused: the only one with a claim, or the one " +
				"that by the servers' record had held the lock since its grant."},
		{Names: []string{"stale_forgotten", "overwritten", "unexplained"},
			Means: "Of a store that is itself under test, which is judged by its answers: those of `stale_accepted` " +
				"before which it had refused others, so that it has forgotten the highest token; those of " +
				"`lost_updates` whose place a stale write took; and answers that no order of the operations explains."},
		{Names: []string{"token_regressions"},
			Means: "Grants whose token is below that of a grant before them: one that had returned before they were " +
				"asked for, or whose claim had ended before theirs began."},
		{Names: []string{"token_duplicates"},
			Means: "Grants whose token is that of an earlier grant, also of one that was pending with them. The " +
				"entries of one hold of a reentrant lock share its token, and a client whose release failed may be " +
				"granted what it still has."},
		{Names: []string{"foreign_releases"},
			Means: "Keys that one client set and another one deleted."},
		{Names: []string{"overtaken"},
			Means: "Grants of a fair lock to a client while another one that had joined the queue earlier was still " +
				"waiting, by the server's record of the queue. A waiter that was paused, cut off or crashed may lose " +
				"its place. Late grants do not count."},
		{Names: []string{"recomputed"},
			Means: "With the workload `fill`: computations of a value beyond the first, whatever the reason. A " +
				"section that sent a write of the value has computed it, whatever became of the write."},
		{Names: []string{"work_twice"},
			Means: "Those of them that the lock, with a second look after the grant, should have prevented: the " +
				"claim of another section that computed the value overlapped, and its write had neither failed before " +
				"the grant nor an unknown outcome; or the value had been stored before the grant and the client read " +
				"it."},
		{Names: []string{"panics"},
			Means: "Panics of the lock's code in a goroutine of a client, and calls of `runtime.Goexit` there: each " +
				"ends the client's process. One in a goroutine that the lock has started ends the run too, which is " +
				"judged up to there: nothing is known of the rest."},
		{Names: []string{"liveness"},
			Means: "`ok`; `stuck` when an Acquire, of the probe or of the workload, was not granted in time although " +
				"the network was whole or only a minority of the servers was out of reach, or when a client asks for " +
				"the lock, loops or waits for its own code for ever; `leaked` when a key of the lock remained after its " +
				"use."},
		{Names: []string{"hung_calls"},
			Means: "Calls other than an Acquire (Release, Extend) that had not returned when the time of the " +
				"workload was over, for longer than a lease, although most of the servers of the lock answered; and " +
				"those that never returned."},
		{Names: []string{"grants", "attempts", "operations"},
			Means: "The number of acquires that succeeded, of acquires that did not, and of reads and writes."},
		{Names: []string{"calls"},
			Means: "All calls by how they ended. An Acquire (or TryAcquire) was `granted`; returned that the lock is " +
				"`taken`; `gave_up`, at the end of its context or while another client had the lock or asked for it; or " +
				"`failed`. An Extend `extended` the lease, did not since the lock was not held (`not_extended`), or " +
				"failed (`failed_extends`); one whose error wraps `errors.ErrUnsupported` is not counted. A Release " +
				"`released` the lock, returned `not_held`, or failed (`failed_releases`). The errors are beside the " +
				"facts, in `errors`, and on the pass line of a test."},
		{Names: []string{"idle_seconds"},
			Means: "The time in which a client waited for the lock, no client had it and no client got it. The " +
				"context of its acquire had not ended, it ran, and its links were whole; no client claimed the lock, " +
				"believed that it had it, was releasing it, or was paused or cut off while it asked for it. One backoff " +
				"and one round trip are subtracted from each such time of each acquire; time in which two clients " +
				"waited counts once."},
		{Names: []string{"overdue"},
			Means: "The idle times, those of each acquire, that lasted longer than the promise allows after their " +
				"cause: a crash, a lost reply, a cancelled acquire, a failed release, an expired lease, or another one. " +
				"A cause counts if it occurred before the time was over that was allowed until then; of several, the " +
				"one that allows most decides. So what the waiting client does in the end (it gives up, crashes, is " +
				"paused) excuses nothing. Where no idle time of a single acquire is overdue, those over all acquires " +
				"count: a client that asks again and again, or that is away for an instant while it waits, begins no " +
				"new one. In such a time the acquires that one client gave up, and its absences, are one cause, unless " +
				"by the servers' record a request took the lock; and a release that is under way takes the round trips " +
				"of a call, if its client runs and its links are whole."},
		{Names: []string{"denied"},
			Means: "In a calm run: acquires that returned without a grant before their context had ended, although " +
				"no other client asked for the lock, or had been granted it and had not finished releasing it."},
		{Names: []string{"self_excluded"},
			Means: "Acquires that returned without a grant and whose key, by the servers' record, kept their own " +
				"client out when it asked again, longer than a few round trips later, although the client ran, its " +
				"links were whole, and it had heard from a server since it lost one; and Acquires whose key kept their " +
				"own client out before they returned, when it asked again: a request whose reply was lost had taken the " +
				"lock. Of locks that a client does not enter again, where all messages take as long and the servers " +
				"keep what they have."},
		{Names: []string{"late_grants"},
			Means: "Grants whose lease had ended when Acquire returned. Under a fault that is allowed; such a claim " +
				"is empty and keeps no client out."},
		{Names: []string{"void_grants"},
			Means: "Grants that promise nothing: the lease had ended before Acquire was called; or the lock knew " +
				"that it was lost when the last answer came, and Acquire returned it all the same; or, in a calm run, " +
				"it ended before the holder released it. A loss that comes in the instant in which Acquire returns " +
				"without a new answer, such as the end of a pause, is not the lock's fault."},
		{Names: []string{"revived_claims"},
			Means: "Leases whose end was moved into the future after it had passed and then the lock had been " +
				"granted again, in a reentrant lock to another client."},
		{Names: []string{"misconduct"},
			Means: "Calls that did not end as the lock promises: see the duties. And the grants of a lock that is " +
				"held until it is told whose holder learned of their loss later than the lock's `Detection` and a few " +
				"round trips allow, on servers that kept what they had."},
		{Names: []string{"noticed_late_seconds"},
			Means: "The longest time after the loss of a lock in which its holder could have been told, and was not: " +
				"it ran and its links were whole, without interruption. The lock is lost when, by the servers' record, " +
				"the client has its key no more; without such a record, when another client is granted it. The time " +
				"ends when the lock announces the loss, the lease ends on its holder's clock, the holder calls Release " +
				"or crashes, or it has the key again."},
		{Names: []string{"failed_calls"},
			Means: "Calls that failed although nothing was wrong, which breaks the promise of every lock: before the " +
				"first fault struck and before the context of any call had ended, on a network in which requests are " +
				"answered in time. An Acquire counts if its client was alone: no other one had a lock or asked for one " +
				"meanwhile, and all that was granted before had been released. If the lock names the errors with which " +
				"it says that it is taken (`Taken`), every other error counts. A Release or an Extend counts if its " +
				"lease had not ended and no other client had been granted the lock. A lock over three nodes or more " +
				"needs a majority of them: an Acquire counts also after faults, if all of them struck the same minority " +
				"of the nodes, or the links to it (cuts, delays, resets, stalls, crashes), and it failed within half a " +
				"lease."},
		{Names: []string{"withheld"},
			Means: "Acquires that were not granted a lock that was free, although nothing was wrong: it had been " +
				"granted and released with success, no other client had it or asked for it, and the client waited for " +
				"longer than a quarter of a lease, and than its requests may take. A lock that stays taken for a while " +
				"after a release says so in its promise: `FreeAfter: map[promise.Cause]lock.Term{promise.CauseOther: " +
				"…}`."},
		{Names: []string{"acted_at_once", "acted_at_once_seconds"}, Leads: true,
			Means: "Pairs of grants whose clients acted at once, and for how long."},
		{Names: []string{"acted_after_loss_seconds"}, Leads: true,
			Means: "The longest time from the loss of a lock to the last operation under its grant."},
		{Names: []string{"leaderless_seconds"}, Leads: true,
			Means: "The longest time in which a client campaigned that ran and reached the servers, and no client " +
				"led."},
		{Names: []string{"leaderless_overdue"}, Leads: true,
			Means: "Such times, those of each acquire, that lasted longer than the lock promises."},
		{Names: []string{"holders"},
			Means: "The number of clients that have had a claim."},
		{Names: []string{"contended"},
			Means: "Acquires that were pending while another client had a claim: they were kept out."},
	}
}

// labelMeans has the meanings of the labels.
var labelMeans = map[Label]string{
	Corrupted: "The data is wrong: an acknowledged write was lost, or a section is torn.",
	Unknown: "The data was not decided, since the run has too many operations; or the order of events matters " +
		"and is not known.",
	Panicked: "The code of the lock panicked, or called `runtime.Goexit`, and ended the process of a client " +
		"(`panics`).",
	Stuck: "No client could acquire the lock at the end, a client asks for it or loops for ever, a key of it " +
		"remained, or it was not granted although it should have been free (`overdue`, `denied`, `withheld`, " +
		"`self_excluded`, `leaderless_overdue`).",
	Hung: "A call other than an Acquire had not returned in time, although most of the servers of the lock " +
		"answered, or never returned (`hung_calls`).",
	FalseReject: "The fence refused a client that rightfully held the lock.",
	Rescued: "The fence refused a stale operation and the data is right; in the same seed without a fence it " +
		"was corrupted.",
	Void:    "A grant promised nothing (`void_grants`).",
	Revived: "A lease began to hold again after another client had been granted the lock (`revived_claims`).",
	Misconduct: "A call failed although nothing was wrong (`failed_calls`), or did not end as the lock promises " +
		"(`misconduct`).",
	Overtaken: "A lock whose waiters queue granted a later request first (`overtaken`).",
	Repeated:  "The work for a value was done twice (`recomputed`).",
	Regressed: "The token of a grant was not above those of the grants before it (`token_regressions`, " +
		"`token_duplicates`).",
	Overlap: "Two clients held the lock at once, or believed so, or acted as leaders at once. The data is " +
		"right.",
	Untested:      "None of these, and no client was ever granted the lock.",
	Safe:          "None of these.",
	NotApplicable: "Not run: the mode needs tokens, and the lock mints none.",
}

// Means says what a run with the label is. It is "" for an unknown label.
func (l Label) Means() string { return labelMeans[l] }

// slackMeans has the meanings of the kinds of slack.
var slackMeans = map[SlackKind]string{
	SlackLease: "From the end of the last claim before a grant to the grant, if its client waited for the lock " +
		"by then, and the claim ended by itself: its validity ended, the lock announced the loss, or its holder " +
		"crashed. Negative if and only if two claims overlap.",
	SlackRelease: "The same after a claim that its holder released. The next grant waits for the release, so a " +
		"small value means nothing.",
	SlackExpiry: "From the end of a claim to the end of the key or session on the servers. Negative if a client " +
		"claimed what the servers would have given to others, whether they did or not.",
	SlackValidity: "What was left of a lease when Acquire or Extend returned.",
	SlackVotes: "How many servers more than a majority had a client's key during its claim, for a lock on " +
		"several.",
	SlackTokens: "From the highest token of the grants before to that of a grant.",
	SlackWait:   "From the end of an idle time to the instant at which it would have been overdue.",
	SlackNotice: "By how much a holder learned of a loss sooner than its lock says (`Detection`).",
}

// Means says from what to what a slack of the kind is measured. It is "" for an unknown kind.
func (k SlackKind) Means() string { return slackMeans[k] }
