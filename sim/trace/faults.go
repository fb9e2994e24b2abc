package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// This file has the events of faults, and [Await]. Their actor is [World], their peer the
// process or server concerned. A fault with a duration has a second event for
// its end.

// Pause is a process that stops for a duration.
type Pause struct{ For time.Duration }

// Resume is the end of a [Pause].
type Resume struct{}

// Suspend is the machine of a process that sleeps for a duration, and its monotonic clock with it.
type Suspend struct{ For time.Duration }

// Wake is the end of a [Suspend].
type Wake struct{}

// Crash is a process or a server that ends.
type Crash struct {
	// Mode is one of faults.CrashMode, "process" or "power", or [Exit] or [Kill].
	Mode string
	// Panic is what the code of the process panicked with, and where, if that ended it: no fault did.
	Panic string
}

// The modes of a [Crash] after a [Terminate].
const (
	// Exit is a process that has ended by itself.
	Exit = "exit"
	// Kill is one that was killed since its grace was over.
	Kill = "kill"
)

// Terminate is a process that is asked to end, and is killed after its grace.
type Terminate struct{ Grace time.Duration }

// Restart is a process or a server that starts again after a [Crash].
type Restart struct {
	// Kept says what a server has kept, such as "3 keys kept"; it may be empty.
	Kept string
}

// KillWorker is a thread of a process that ends, while the rest of the process
// runs on.
type KillWorker struct{}

// Slow is a process whose timers are late.
type Slow struct {
	By time.Duration
	// For is the duration; 0 means until the world is healed, here and below.
	For time.Duration
}

// SlowEnd is the end of [Slow].
type SlowEnd struct{}

// ClockJump is a wall clock that is set.
type ClockJump struct{ By time.Duration }

// ClockDrift is a clock that changes its rate: faster by PPM parts per million,
// or back to its own rate with 0.
type ClockDrift struct{ PPM int64 }

// Exhaust is a process whose connection pools are held by other work.
type Exhaust struct {
	Connections int
	For         time.Duration
}

// ExhaustEnd is the end of [Exhaust].
type ExhaustEnd struct{}

// Await is a command of a process that has to wait for a connection: all Connections of its
// pool are in use. Its actor is the process.
type Await struct{ Connections int }

// Cut is a partition.
type Cut struct {
	// Between is one side, And the other: everything else if it is empty.
	Between, And []string
	// Bytes is one of faults.Bytes, Direction one of faults.Direction.
	Bytes, Direction string
}

// Heal is the end of a [Cut].
type Heal struct{ Between []string }

// Toxic is a toxic on the links between two sides.
type Toxic struct {
	Name         string
	Between, And []string
	Direction    string
	For          time.Duration
}

// ToxicEnd is the end of a [Toxic].
type ToxicEnd struct {
	Name    string
	Between []string
}

// Refuse is a server that refuses new connections.
type Refuse struct{ For time.Duration }

// RefuseEnd is the end of [Refuse].
type RefuseEnd struct{}

// Stall is a server that serves no request.
type Stall struct{ For time.Duration }

// StallEnd is the end of a [Stall].
type StallEnd struct{}

// ReadOnly is a server that refuses writes.
type ReadOnly struct{ For time.Duration }

// ReadOnlyEnd is the end of [ReadOnly].
type ReadOnlyEnd struct{}

// ErrorReply is a server that answers requests with an error, one of faults.ReplyError. Count 0
// means all of them.
type ErrorReply struct {
	Error string
	Count int
	For   time.Duration
}

// ErrorReplyEnd is the end of an [ErrorReply].
type ErrorReplyEnd struct{ Error string }

// Promote is a replica that becomes the primary.
type Promote struct {
	// Old is the old primary, Fate one of faults.OldPrimary.
	Old, Fate string
	// Told are the clients that are told of it; empty means all.
	Told []string
	// Follows says that the replica has followed the old primary. Of is then
	// the number of effects of the old primary, Has the number that the replica
	// has applied.
	Follows bool
	Has, Of int64
}

// NotPromoted is a server that cannot be promoted because of its Role.
type NotPromoted struct{ Role string }

// Evict is a server that deletes keys. It deletes none if Role is set: it is
// down, or a replica.
type Evict struct {
	// Policy is one of faults.EvictionPolicy.
	Policy string
	Keys   []string
	Role   string
}

// Flush is a server that deletes the data that What names, one of
// faults.FlushWhat. It deletes nothing if Role is set: it is down, or a
// replica.
type Flush struct{ What, Role string }

// Lasts is a duration in words.
func Lasts(d time.Duration) string {
	if d == 0 {
		return "until healed"
	}
	return "for " + d.String()
}

func others(and []string) string {
	if len(and) == 0 {
		return "everything else"
	}
	return strings.Join(and, ",")
}

// Parties are those of one side.
func (c Cut) Parties() []string { return c.Between }

// Parties are those of [Cut.Between].
func (h Heal) Parties() []string { return h.Between }

// Parties are those of one side.
func (t Toxic) Parties() []string { return t.Between }

// Parties are those of [Toxic.Between].
func (t ToxicEnd) Parties() []string { return t.Between }

// Kind is "pause".
func (Pause) Kind() string { return "pause" }

// Kind is "resume".
func (Resume) Kind() string { return "resume" }

// Kind is "suspend".
func (Suspend) Kind() string { return "suspend" }

// Kind is "wake".
func (Wake) Kind() string { return "wake" }

// Kind is "terminate".
func (Terminate) Kind() string { return "terminate" }

// Kind is "crash".
func (Crash) Kind() string { return "crash" }

// Kind is "restart".
func (Restart) Kind() string { return "restart" }

// Kind is "kill-worker".
func (KillWorker) Kind() string { return "kill-worker" }

// Kind is "slow".
func (Slow) Kind() string { return "slow" }

// Kind is "slow-end".
func (SlowEnd) Kind() string { return "slow-end" }

// Kind is "clock-jump".
func (ClockJump) Kind() string { return "clock-jump" }

// Kind is "clock-drift".
func (ClockDrift) Kind() string { return "clock-drift" }

// Kind is "exhaust".
func (Exhaust) Kind() string { return "exhaust" }

// Kind is "exhaust-end".
func (ExhaustEnd) Kind() string { return "exhaust-end" }

// Kind is "await".
func (Await) Kind() string { return "await" }

// Kind is "cut".
func (Cut) Kind() string { return "cut" }

// Kind is "heal".
func (Heal) Kind() string { return "heal" }

// Kind is "toxic".
func (Toxic) Kind() string { return "toxic" }

// Kind is "toxic-end".
func (ToxicEnd) Kind() string { return "toxic-end" }

// Kind is "refuse".
func (Refuse) Kind() string { return "refuse" }

// Kind is "refuse-end".
func (RefuseEnd) Kind() string { return "refuse-end" }

// Kind is "stall".
func (Stall) Kind() string { return "stall" }

// Kind is "stall-end".
func (StallEnd) Kind() string { return "stall-end" }

// Kind is "read-only".
func (ReadOnly) Kind() string { return "read-only" }

// Kind is "read-only-end".
func (ReadOnlyEnd) Kind() string { return "read-only-end" }

// Kind is "error-reply".
func (ErrorReply) Kind() string { return "error-reply" }

// Kind is "error-reply-end".
func (ErrorReplyEnd) Kind() string { return "error-reply-end" }

// Kind is "promote".
func (Promote) Kind() string { return "promote" }

// Kind is "no-promote".
func (NotPromoted) Kind() string { return "no-promote" }

// Kind is "evict".
func (Evict) Kind() string { return "evict" }

// Kind is "flush".
func (Flush) Kind() string { return "flush" }

// AppendText appends the fate of the old primary, and how many effects the
// replica has.
func (p Promote) AppendText(b []byte) []byte {
	b = fmt.Appendf(b, "old primary %s %s", p.Old, p.Fate)
	if len(p.Told) > 0 {
		b = fmt.Appendf(b, ", for %s", strings.Join(p.Told, ","))
	}
	if p.Follows {
		b = fmt.Appendf(b, ", with %d of its %d effects", p.Has, p.Of)
	}
	return b
}

// AppendText appends the policy and the keys.
func (e Evict) AppendText(b []byte) []byte {
	switch {
	case e.Role != "":
		return append(append(b, "nothing: it is "...), e.Role...)
	case len(e.Keys) == 0:
		return append(append(b, e.Policy...), ": nothing"...)
	}
	return append(append(append(b, e.Policy...), ": "...), strings.Join(e.Keys, " ")...)
}

// AppendText appends what is deleted.
func (f Flush) AppendText(b []byte) []byte {
	if f.Role != "" {
		return append(append(b, "nothing: it is "...), f.Role...)
	}
	return append(b, f.What...)
}

// AppendText appends the details.
func (p Pause) AppendText(b []byte) []byte { return append(b, p.For.String()...) }

// AppendText appends nothing.
func (Resume) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (s Suspend) AppendText(b []byte) []byte { return append(b, s.For.String()...) }

// AppendText appends nothing.
func (Wake) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (t Terminate) AppendText(b []byte) []byte { return append(b, t.Grace.String()...) }

// AppendText appends the details.
func (c Crash) AppendText(b []byte) []byte {
	if c.Panic != "" {
		return append(append(b, "panic: "...), c.Panic...)
	}
	switch c.Mode {
	case Exit:
		return append(b, "by itself, as it was asked to"...)
	case Kill:
		return append(b, "its grace is over"...)
	}
	return append(b, c.Mode...)
}

// AppendText appends the details.
func (r Restart) AppendText(b []byte) []byte { return append(b, r.Kept...) }

// AppendText appends nothing.
func (KillWorker) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (s Slow) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "timers late by %v, %s", s.By, Lasts(s.For))
}

// AppendText appends nothing.
func (SlowEnd) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (c ClockJump) AppendText(b []byte) []byte { return append(b, c.By.String()...) }

// AppendText appends the details.
func (c ClockDrift) AppendText(b []byte) []byte {
	return append(strconv.AppendInt(b, c.PPM, 10), " ppm"...)
}

// AppendText appends the details.
func (e Exhaust) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "%d connections, %s", e.Connections, Lasts(e.For))
}

// AppendText appends nothing.
func (ExhaustEnd) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (a Await) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "a connection: all %d of its pool are in use", a.Connections)
}

// AppendText appends the details.
func (c Cut) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "from %s, bytes: %s, direction: %s", others(c.And), c.Bytes, c.Direction)
}

// AppendText appends nothing.
func (h Heal) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (t Toxic) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "%s, between %s and %s (%s) %s", t.Name, strings.Join(t.Between, ","), others(t.And), t.Direction, Lasts(t.For))
}

// AppendText appends the details.
func (t ToxicEnd) AppendText(b []byte) []byte { return append(b, t.Name...) }

// AppendText appends the details.
func (r Refuse) AppendText(b []byte) []byte { return append(b, Lasts(r.For)...) }

// AppendText appends nothing.
func (RefuseEnd) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (s Stall) AppendText(b []byte) []byte { return append(b, Lasts(s.For)...) }

// AppendText appends nothing.
func (StallEnd) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (r ReadOnly) AppendText(b []byte) []byte { return append(b, Lasts(r.For)...) }

// AppendText appends nothing.
func (ReadOnlyEnd) AppendText(b []byte) []byte { return b }

// AppendText appends the details.
func (e ErrorReply) AppendText(b []byte) []byte {
	switch e.Count {
	case 0:
		return fmt.Appendf(b, "%s, %s", e.Error, Lasts(e.For))
	case 1:
		return fmt.Appendf(b, "%s, the next request, %s", e.Error, Lasts(e.For))
	}
	return fmt.Appendf(b, "%s, the next %d requests, %s", e.Error, e.Count, Lasts(e.For))
}

// AppendText appends the details.
func (e ErrorReplyEnd) AppendText(b []byte) []byte { return append(b, e.Error...) }

// AppendText appends the details.
func (n NotPromoted) AppendText(b []byte) []byte { return append(append(b, "it is "...), n.Role...) }

// AppendHash implements [What].
func (p Promote) AppendHash(b []byte) []byte {
	b = AppendInt(AppendInt(AppendStrings(AppendStrings(b, []string{p.Old, p.Fate}), p.Told), p.Has), p.Of)
	if p.Follows {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendHash implements [What].
func (p Pause) AppendHash(b []byte) []byte { return AppendInt(b, int64(p.For)) }

// AppendHash implements [What].
func (Resume) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (s Suspend) AppendHash(b []byte) []byte { return AppendInt(b, int64(s.For)) }

// AppendHash implements [What].
func (Wake) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (t Terminate) AppendHash(b []byte) []byte { return AppendInt(b, int64(t.Grace)) }

// AppendHash implements [What].
func (c Crash) AppendHash(b []byte) []byte {
	if b = AppendString(b, c.Mode); c.Panic != "" {
		b = AppendString(b, c.Panic)
	}
	return b
}

// AppendHash implements [What].
func (r Restart) AppendHash(b []byte) []byte { return AppendString(b, r.Kept) }

// AppendHash implements [What].
func (KillWorker) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (s Slow) AppendHash(b []byte) []byte { return AppendInt(AppendInt(b, int64(s.By)), int64(s.For)) }

// AppendHash implements [What].
func (SlowEnd) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (c ClockJump) AppendHash(b []byte) []byte { return AppendInt(b, int64(c.By)) }

// AppendHash implements [What].
func (c ClockDrift) AppendHash(b []byte) []byte { return AppendInt(b, c.PPM) }

// AppendHash implements [What].
func (e Exhaust) AppendHash(b []byte) []byte {
	return AppendInt(AppendInt(b, int64(e.Connections)), int64(e.For))
}

// AppendHash implements [What].
func (ExhaustEnd) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (a Await) AppendHash(b []byte) []byte { return AppendInt(b, int64(a.Connections)) }

// AppendHash implements [What].
func (c Cut) AppendHash(b []byte) []byte {
	return AppendStrings(AppendStrings(AppendStrings(b, c.Between), c.And), []string{c.Bytes, c.Direction})
}

// AppendHash implements [What].
func (h Heal) AppendHash(b []byte) []byte { return AppendStrings(b, h.Between) }

// AppendHash implements [What].
func (t Toxic) AppendHash(b []byte) []byte {
	return AppendInt(AppendStrings(AppendStrings(AppendStrings(b, t.Between), t.And), []string{t.Name, t.Direction}), int64(t.For))
}

// AppendHash implements [What].
func (t ToxicEnd) AppendHash(b []byte) []byte {
	return AppendStrings(AppendString(b, t.Name), t.Between)
}

// AppendHash implements [What].
func (r Refuse) AppendHash(b []byte) []byte { return AppendInt(b, int64(r.For)) }

// AppendHash implements [What].
func (RefuseEnd) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (s Stall) AppendHash(b []byte) []byte { return AppendInt(b, int64(s.For)) }

// AppendHash implements [What].
func (StallEnd) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (r ReadOnly) AppendHash(b []byte) []byte { return AppendInt(b, int64(r.For)) }

// AppendHash implements [What].
func (ReadOnlyEnd) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (e ErrorReply) AppendHash(b []byte) []byte {
	return AppendInt(AppendInt(AppendString(b, e.Error), int64(e.Count)), int64(e.For))
}

// AppendHash implements [What].
func (e ErrorReplyEnd) AppendHash(b []byte) []byte { return AppendString(b, e.Error) }

// AppendHash implements [What].
func (n NotPromoted) AppendHash(b []byte) []byte { return AppendString(b, n.Role) }

// AppendHash implements [What].
func (e Evict) AppendHash(b []byte) []byte {
	return AppendStrings(AppendStrings(b, e.Keys), []string{e.Policy, e.Role})
}

// AppendHash implements [What].
func (f Flush) AppendHash(b []byte) []byte { return AppendStrings(b, []string{f.What, f.Role}) }
