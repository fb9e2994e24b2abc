package promise

// Fault is a class of things that go wrong.
type Fault string

// The faults that the locks of package lock stand, as far as exclusion of claims goes: they stop
// processes, threads and messages, or refuse requests, and leave alone what a node has answered.
const (
	Pause     Fault = "pause"
	Crash     Fault = "crash"
	Power     Fault = "power"
	Restart   Fault = "restart"
	Slow      Fault = "slow"
	Pool      Fault = "pool"
	Partition Fault = "partition"
	Latency   Fault = "latency"
	Reset     Fault = "reset"
	Stall     Fault = "stall"
	ReadOnly  Fault = "read-only"
	Scripts   Fault = "scripts"
	WallClock Fault = "wall-clock" // our locks measure by the monotonic clock
)

// The faults that only some of the locks stand, or none.
const (
	Worker       Fault = "worker"
	ClockDrift   Fault = "clock-drift" // by no more than DriftAllowance
	ClockRate    Fault = "clock-rate"  // by more (F20)
	NodeClock    Fault = "node-clock"  // F18, F19
	NodeCrash    Fault = "node-crash"  // F15, F16
	NodePower    Fault = "node-power"  // F15, F17
	Failover     Fault = "failover"    // F40 to F44
	Eviction     Fault = "eviction"    // F10, F45
	Flush        Fault = "flush"       // F46
	Intervention Fault = "intervention"
)

// DriftAllowance is by how much the rates of two clocks may differ, in millionths,
// before [ClockDrift] becomes [ClockRate]: a hundredth, which a Redlock allows for.
const DriftAllowance = 10_000

// answer says whether a class of fault has a property. The zero answer is none: a row that has one is not filled.
type answer uint8

const (
	no answer = iota + 1
	yes
)

// class is the row of a class of fault. A judge reads from it what a fault explains, and what it does not.
type class struct {
	fault Fault
	// means says what goes wrong, and unfelt what must have happened if that had no effect on a run, both as parts of a
	// sentence.
	means, unfelt string
	// steady: the servers keep all keys and the course of their clocks.
	steady answer
	// pace: clients send requests that the lock did not ask for, such as a script once more.
	pace answer
	// absence: clients do not run, or do not reach a server, for as long as the fault lasts. A crash is none: it has no
	// length, and the trace knows when it ends.
	absence answer
	// stops: it is the client that does not run, or whose timers fire late. It is part of absence.
	stops answer
	// silences: a server does not answer in time, or not any more, and no other is concerned.
	silences answer
	// leaves: a key may be left behind that no lock could have removed.
	leaves answer
	// undermines: servers or clocks do not do what locks rely on.
	undermines answer
}

// classes has the row of each class, in the order of [Faults]. The answers are those to: steady, pace, absence, stops,
// silences, leaves, undermines.
var classes = []class{
	{Pause, "a process stops and goes on", "the process had nothing left to do",
		yes, no, yes, yes, no, no, no},
	{Crash, "a process ends for good, and its system closes its connections", "the process had nothing left to do",
		yes, no, no, no, no, yes, no},
	{Power, "the machine of a client loses its power, and closes no connection", "the process had nothing left to do",
		yes, no, no, no, no, yes, no},
	{Restart, "a process that has ended begins anew, with a fresh memory and new owner ids", "no client restarted",
		yes, no, no, no, no, yes, no},
	{Slow, "the timers of a process fire late", "no timer of the process was due",
		yes, no, yes, yes, no, no, no},
	{Pool, "a process has no connection to a node free", "no command asked the pool for a connection",
		yes, yes, yes, yes, no, yes, no},
	{Partition, "messages are held or lost", "no message was held, lost or delayed",
		yes, no, yes, no, yes, yes, no},
	{Latency, "messages are late, in pieces, or few at a time", "no message was held, lost or delayed",
		yes, no, yes, no, yes, yes, no},
	{Reset, "connections break, dials are refused, replies are lost",
		"no client used a connection that was reset, and none was refused",
		yes, no, yes, no, yes, yes, no},
	{Stall, "a node answers late, and in order", "no request had to wait",
		yes, no, yes, no, yes, yes, no},
	{ReadOnly, "a node refuses writes, or other requests", "no request was refused",
		yes, no, yes, no, no, yes, no},
	{Scripts, "a node forgets the scripts that it was sent", "the server had no script",
		yes, yes, no, no, no, no, no},
	{WallClock, "a client's wall clock jumps", "no client read its wall clock",
		yes, no, no, no, no, no, yes},
	{Worker, "a thread ends without a release, and its process goes on", "the process had nothing left to do",
		yes, no, no, no, no, yes, no},
	{ClockDrift, "clocks run at rates that differ by no more than the drift allowance", "no clock that drifted was used",
		yes, no, yes, yes, no, no, yes},
	{ClockRate, "clocks run at rates that differ by more, or stand still", "no clock that drifted was used",
		yes, no, yes, yes, no, no, yes},
	{NodeClock, "the wall clock of a node jumps, and its keys end early or late", "no client used the server afterwards",
		no, no, no, no, no, no, yes},
	{NodeCrash, "the process of a node ends, or comes back with what it had written to files",
		"no client used the server afterwards",
		no, no, no, no, yes, yes, yes},
	{NodePower, "the machine of a node loses its power, or comes back with what was on its disk",
		"no client used the server afterwards",
		no, no, no, no, yes, yes, yes},
	{Failover, "a replica takes over with what it has", "no client used the server afterwards",
		no, no, yes, no, no, yes, yes},
	{Eviction, "a node gives up keys for want of memory", "the server had no key",
		no, no, no, no, no, no, yes},
	{Flush, "a node forgets its keys", "the server had no key",
		no, no, no, no, no, no, yes},
	{Intervention, "an operator deletes or overwrites a lock's key by hand, or ends its session", "the lock had no key",
		no, no, no, no, no, yes, yes},
}

// row is the row of a class. That of an unknown one has nothing in it: it explains nothing but that a key is left.
func (f Fault) row() class {
	for _, c := range classes {
		if c.fault == f {
			return c
		}
	}
	return class{}
}

// Faults lists the classes of fault. The caller owns the slice.
func Faults() []Fault {
	all := make([]Fault, len(classes))
	for i, c := range classes {
		all[i] = c.fault
	}
	return all
}

// Means says what goes wrong, as a part of a sentence: "a process stops and goes on". It is "" for an unknown class.
func (f Fault) Means() string { return f.row().means }

// Unfelt says why a fault of the class had no effect, as the end of a sentence: "not felt: no client read its wall
// clock".
func (f Fault) Unfelt() string {
	if text := f.row().unfelt; text != "" {
		return text
	}
	return "it had no effect"
}

// Steady reports whether the servers keep all keys and the course of their clocks: only clients and the network are
// concerned, or what the servers can be sent again.
func (f Fault) Steady() bool { return f.row().steady == yes }

// ChangesPace reports whether clients send requests that their lock did not ask for: a script that a server has
// forgotten, or what a new connection begins with, when other work of the process has taken the old ones.
func (f Fault) ChangesPace() bool { return f.row().pace == yes }

// KeepsAway reports whether a fault of the class keeps clients from running or from reaching a server while it lasts.
// A clock that jumps, or a key that is lost, does not.
func (f Fault) KeepsAway() bool { return f.row().absence == yes }

// Stops reports whether a fault of the class keeps a client from running, or its timers from firing in time. Then it
// [Fault.KeepsAway] too.
func (f Fault) Stops() bool { return f.row().stops == yes }

// Silences reports whether a fault of the class keeps a server from answering in time, or ends it.
func (f Fault) Silences() bool { return f.row().silences == yes }

// LeavesKey reports whether a fault of the class can leave a key behind that no lock could have removed: a request of
// an attempt may arrive after the request that was to undo it (F28), a release may never arrive, a node may restart
// with old keys (F43). Pauses, clocks and lost keys cannot. Of an unknown class it is true.
func (f Fault) LeavesKey() bool { return f.row().leaves != no }

// Undermines reports whether servers or clocks do not do what locks rely on after a fault of the class. A lock that has
// said nothing about it is not to blame for what follows.
func (f Fault) Undermines() bool { return f.row().undermines == yes }
