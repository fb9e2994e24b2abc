package faults

// Kind is one of the things that can go wrong, for people to choose from.
type Kind struct {
	// Name is what Action.Kind returns and a scenario file writes.
	Name string
	// Text says in a line what it does.
	Text string
}

// Kinds lists every kind of action, by what it strikes: processes, clocks, the
// network, Redis nodes. The caller owns the slice.
func Kinds() []Kind {
	return []Kind{
		{Pause{}.Kind(), "a process stops for a while, as in a garbage collection"},
		{Crash{}.Kind(), "a process ends, and the system closes its sockets or the power is gone"},
		{Restart{}.Kind(), "a crashed process comes back, a node with what its persistence kept"},
		{Slow{}.Kind(), "the timers of a process fire late"},
		{KillWorker{}.Kind(), "the working thread of a process dies, and its timers live on"},
		{ExhaustPool{}.Kind(), "other work of a process holds every connection to Redis"},
		{ClockJump{}.Kind(), "a wall clock is set forward or back"},
		{ClockDrift{}.Kind(), "a clock runs too fast or too slow"},
		{ClockFreeze{}.Kind(), "a clock stands still"},
		{Latency{}.Kind(), "messages are late, each by another time"},
		{Bandwidth{}.Kind(), "connections carry only so many KB/s"},
		{Slice{}.Kind(), "messages arrive in small packets"},
		{SlowClose{}.Kind(), "the end of a connection arrives late"},
		{LoseReply{}.Kind(), "the next replies are lost after their commands were applied"},
		{DelayMessage{}.Kind(), "the next message is late, and others overtake it"},
		{Partition{}.Kind(), "the network between two groups holds or drops what is sent"},
		{Reset{}.Kind(), "the connections between two groups break"},
		{Refuse{}.Kind(), "a node refuses new connections"},
		{Stall{}.Kind(), "a slow command blocks a node"},
		{Failover{}.Kind(), "a replica takes over with what it has"},
		{Evict{}.Kind(), "a node without memory gives up keys"},
		{Flush{}.Kind(), "a node forgets its keys or its scripts"},
		{ReadOnly{}.Kind(), "a node refuses writes"},
	}
}
