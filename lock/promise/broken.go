package promise

// breaks says what breaks a duty.
var breaks = map[Duty]string{
	DutyEnds: "Acquire returns later than a few round trips after its context has ended, or grants the lock " +
		"after that; or an Acquire that gave up leaves its key, or its place in the queue, behind.",
	DutyWaits: "Acquire gives up before its context has ended, although all its requests are answered.",
	DutyReports: "Release returns no error although the servers still have the key, or had given it up before; " +
		"or it leaves the context of the lease alive; or it fails although all its requests are answered, or since " +
		"the context of its caller had ended before; or says that the lock was lost while the servers have its key.",
	DutyRenews: "A lease is lost although nothing kept the lock from renewing it for the last third of a TTL. " +
		"It is asked too, without being listed, of a lock of your own that was seen to renew its lease, in a run " +
		"without faults in which a client has the lock for three lengths of it.",
	DutyTells: "The validity of a lease ends by the holder's clock, and the lock announces the loss more than " +
		"10 ms later, or not before the release; or it announces a loss more than 10 ms too early, while the " +
		"servers have the key (F68). Or Acquire returns no error and a lease that was over, by the holder's clock, " +
		"when the last answer came: its caller has nothing. Or the lock has received an answer to a renewal, which " +
		"found its key gone, and announces the loss more than 10 ms after that answer (locks with one key on one " +
		"Redis server). Only of leases that tell their end.",
	DutyTries: "TryAcquire takes twice as long as the round trips of its requests, as if it waited.",
	DutyExplains: "Acquire gives up because its context has ended, and its error does not wrap that of the " +
		"context.",
	DutyKeeps: "A lease has a token although the lock mints none, or none although it does; its context lacks " +
		"the values of the context of Acquire; a Release that is called again after an answer returns another one; " +
		"an Extend without an error leaves less than half of a TTL; or a lease is told twice that it begins or that " +
		"it is lost: `Lost` has values in place of being closed, or an election calls back again (`Term`).",
	DutyReturns: "Release goes on for longer than the lock promises (`ReturnsWithin`), Acquire for as much " +
		"longer than the deadline of its context, or Extend after the end of the lease. Trouble of the network is " +
		"no excuse, only a process that did not run. With go-redis it needs `ContextTimeoutEnabled`; it is not " +
		"judged with stock clients, whose requests outlast their contexts.",
	DutyWakes: "The lock is free, a client waits for it, and no client has it for twice as long as the round " +
		"trips of a call can take, although nothing had gone wrong by then; that a client gives up is no excuse. " +
		"Judged in scenarios with `wait: notify`: a lock that always waits for a notice has `Waits` set all the " +
		"same.",
	DutySpares: "A client that waits sends more requests than one try for each `Backoff.Min`, or for each " +
		"`Pause` of a lock with a backoff of its own, or a holder renews more often than twelve times in a TTL, " +
		"with an allowance for what begins and ends a call, and for refused scripts, which are sent whole. Trouble " +
		"of the network is no other excuse.",
}

// Broken says what breaks the duty. It is "" for an unknown duty.
func (d Duty) Broken() string { return breaks[d] }
