package faults

// kinds are all kinds of action, by what they strike: processes, clocks, the
// network, nodes.
var kinds = []kind{
	of[Pause](),
	of[Suspend](),
	of[Crash](),
	of[Terminate](),
	of[Restart](),
	of[Slow](),
	of[KillWorker](),
	of[ExhaustPool](),
	of[ClockJump](),
	of[ClockDrift](),
	of[ClockFreeze](),
	of[Latency](),
	of[Bandwidth](),
	of[Slice](),
	of[SlowClose](),
	of[Loss](),
	of[LoseReply](),
	of[DelayMessage](),
	of[Partition](),
	of[Reset](),
	of[HalfOpen](),
	of[Refuse](),
	of[Stall](),
	of[Failover](),
	of[Evict](),
	of[Flush](),
	of[ReadOnly](),
	of[ErrorReply](),
	of[SentinelFailover](),
	of[ClusterFailover](),
	of[MoveSlot](),
	of[Leave](),
	of[EditKey](),
	of[EndSession](),
}

// Kinds lists every kind of action, as an empty form. The caller
// owns them.
func Kinds() []Form {
	all := make([]Form, len(kinds))
	for i, k := range kinds {
		all[i] = k.blank()
	}
	return all
}
