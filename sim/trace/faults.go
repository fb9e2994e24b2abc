package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// This file has the events of faults. Their actor is [World], their peer the
// process or server concerned. A fault with a duration has a second event for
// its end.

// Pause is a process that stops for a duration.
type Pause struct{ For time.Duration }

// Kind is "pause".
func (Pause) Kind() string { return "pause" }

// Fields implements [What].
func (p Pause) Fields(f Fields) Fields { return f.Duration("for", p.For) }

// Words implements [What].
func (p Pause) Words(View) Words {
	return Words{Story: "PAUSED for " + p.For.String(), Lane: "paused " + p.For.String(), EndedBy: awake}
}

// Resume is the end of a [Pause].
type Resume struct{}

// Kind is "resume".
func (Resume) Kind() string { return "resume" }

// Fields implements [What].
func (Resume) Fields(f Fields) Fields { return f }

// Words implements [What].
func (Resume) Words(View) Words { return Words{Story: "RESUMES"} }

// Suspend is the machine of a process that sleeps for a duration, and its monotonic clock with it.
type Suspend struct{ For time.Duration }

// Kind is "suspend".
func (Suspend) Kind() string { return "suspend" }

// Fields implements [What].
func (s Suspend) Fields(f Fields) Fields { return f.Duration("for", s.For) }

// Words implements [What].
func (s Suspend) Words(View) Words {
	return Words{Story: "MACHINE SLEEPS, its monotonic clock with it, for " + s.For.String(),
		Lane: "machine sleeps " + s.For.String(), EndedBy: awake}
}

// Wake is the end of a [Suspend].
type Wake struct{}

// Kind is "wake".
func (Wake) Kind() string { return "wake" }

// Fields implements [What].
func (Wake) Fields(f Fields) Fields { return f }

// Words implements [What].
func (Wake) Words(View) Words {
	return Words{Story: "MACHINE WAKES: its monotonic clock has not counted that time"}
}

// awake end a pause and a suspension: of two at once, the last that ends has an
// event.
var awake = by(Resume{}, Wake{})

// Terminate is a process that is asked to end, and is killed after its grace.
type Terminate struct{ Grace time.Duration }

// Kind is "terminate".
func (Terminate) Kind() string { return "terminate" }

// Fields implements [What].
func (t Terminate) Fields(f Fields) Fields { return f.Duration("grace", t.Grace) }

// Words implements [What].
func (t Terminate) Words(View) Words {
	grace := t.Grace.String()
	return Words{Story: "IS ASKED TO END (SIGTERM) within " + grace, Lane: "asked to end within " + grace}
}

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

// Kind is "crash".
func (Crash) Kind() string { return "crash" }

// Fields implements [What].
func (c Crash) Fields(f Fields) Fields {
	if f = f.Text("mode", c.Mode); c.Panic != "" {
		f = f.Text("panic", c.Panic)
	}
	return f
}

// AppendText appends what ended it.
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

// Words implements [What].
func (c Crash) Words(View) Words {
	w := Words{Story: "CRASHES: " + line(c), Lane: "down " + c.Mode, EndedBy: by(Restart{})}
	switch c.Mode {
	case Exit:
		w.Story, w.Lane = "ENDS "+line(c), "ended by itself"
	case Kill:
		w.Story, w.Lane = "IS KILLED: "+line(c), "killed"
	}
	if c.Panic != "" {
		w.Story = "PANICS: " + c.Panic
	}
	return w
}

// Restart is a process or a server that starts again after a [Crash].
type Restart struct {
	// Kept says what a server has kept, such as "3 keys kept"; it may be empty.
	Kept string
}

// Kind is "restart".
func (Restart) Kind() string { return "restart" }

// Fields implements [What].
func (r Restart) Fields(f Fields) Fields { return f.Text("kept", r.Kept) }

// Words implements [What].
func (r Restart) Words(View) Words { return Words{Story: strings.TrimSpace("COMES BACK " + line(r))} }

// KillWorker is a thread of a process that ends, while the rest of the process
// runs on.
type KillWorker struct{}

// Kind is "kill-worker".
func (KillWorker) Kind() string { return "kill-worker" }

// Fields implements [What].
func (KillWorker) Fields(f Fields) Fields { return f }

// Words implements [What].
func (KillWorker) Words(View) Words { return Words{Story: "LOSES ITS WORKER", Lane: "worker dies"} }

// Slow is a process whose timers are late.
type Slow struct {
	By time.Duration
	// For is the duration; 0 means until the world is healed, here and below.
	For time.Duration
}

// Kind is "slow".
func (Slow) Kind() string { return "slow" }

// Fields implements [What].
func (s Slow) Fields(f Fields) Fields { return f.Duration("by", s.By).Lasts("for", s.For) }

// AppendText appends how late they are, and for how long.
func (s Slow) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "timers late by %v, %s", s.By, Lasts(s.For))
}

// Words implements [What].
func (s Slow) Words(View) Words {
	return Words{Story: "SLOW: " + line(s), Lane: "slow timers late by " + s.By.String(), EndedBy: by(SlowEnd{})}
}

// SlowEnd is the end of [Slow].
type SlowEnd struct{}

// Kind is "slow-end".
func (SlowEnd) Kind() string { return "slow-end" }

// Fields implements [What].
func (SlowEnd) Fields(f Fields) Fields { return f }

// Words implements [What].
func (SlowEnd) Words(View) Words { return Words{Story: "no longer slow"} }

// ClockJump is a wall clock that is set.
type ClockJump struct{ By time.Duration }

// Kind is "clock-jump".
func (ClockJump) Kind() string { return "clock-jump" }

// Fields implements [What].
func (c ClockJump) Fields(f Fields) Fields { return f.Duration("by", c.By) }

// Words implements [What].
func (c ClockJump) Words(v View) Words {
	by := c.By.String()
	switch {
	case v.At > 0 && c.By > 0:
		return v.words("CLOCK JUMPS by ", "clock jumps +", by)
	case v.At > 0:
		return v.words("CLOCK JUMPS by ", "clock jumps ", by)
	case c.By < 0:
		return v.words("CLOCK IS BEHIND from the start, by ", "clock behind by ", (-c.By).String())
	}
	return v.words("CLOCK IS AHEAD from the start, by ", "clock ahead by ", by)
}

// ClockDrift is a clock that changes its rate: faster by PPM parts per million,
// or back to its own rate with 0.
type ClockDrift struct{ PPM int64 }

// Kind is "clock-drift".
func (ClockDrift) Kind() string { return "clock-drift" }

// Fields implements [What].
func (c ClockDrift) Fields(f Fields) Fields { return f.Count("ppm", c.PPM) }

// Words implements [What].
func (c ClockDrift) Words(View) Words {
	w := Words{Story: "CLOCK DRIFTS by " + line(c), Lane: "clock drifts " + line(c), EndedBy: by(c)}
	switch c.PPM {
	case 0:
		return Words{Story: "CLOCK RUNS as before"}
	case -1_000_000:
		w.Story, w.Lane = "CLOCK STANDS STILL", "clock stands still"
	}
	return w
}

// Exhaust is a process whose connection pools are held by other work.
type Exhaust struct {
	Connections int
	For         time.Duration
}

// Kind is "exhaust".
func (Exhaust) Kind() string { return "exhaust" }

// Fields implements [What].
func (e Exhaust) Fields(f Fields) Fields {
	return f.Int("connections", int64(e.Connections)).Lasts("for", e.For)
}

// AppendText appends how many, and for how long.
func (e Exhaust) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "%d connections, %s", e.Connections, Lasts(e.For))
}

// Words implements [What].
func (e Exhaust) Words(View) Words {
	return Words{Story: "POOL EXHAUSTED " + line(e), Lane: "pool exhausted " + line(e), EndedBy: by(ExhaustEnd{})}
}

// ExhaustEnd is the end of [Exhaust].
type ExhaustEnd struct{}

// Kind is "exhaust-end".
func (ExhaustEnd) Kind() string { return "exhaust-end" }

// Fields implements [What].
func (ExhaustEnd) Fields(f Fields) Fields { return f }

// Words implements [What].
func (ExhaustEnd) Words(View) Words { return Words{Story: "pool free again"} }

// Cut is a partition.
type Cut struct {
	// Between is one side, And the other: everything else if it is empty.
	Between, And []string
	// Bytes is one of faults.Bytes, Direction one of faults.Direction.
	Bytes, Direction string
}

// Parties are those of one side.
func (c Cut) Parties() []string { return c.Between }

// Struck are those of both sides.
func (c Cut) Struck() []string { return slices.Concat(c.Between, c.And) }

// Kind is "cut".
func (Cut) Kind() string { return "cut" }

// Fields implements [What].
func (c Cut) Fields(f Fields) Fields {
	return f.List("between", c.Between).List("and", c.And).Texts("bytes", c.Bytes, "direction", c.Direction)
}

// AppendText appends the other side, and what is lost.
func (c Cut) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "from %s, bytes: %s, direction: %s", others(c.And), c.Bytes, c.Direction)
}

// Words implements [What].
func (c Cut) Words(v View) Words {
	w := Words{Story: "CUT OFF " + line(c)}
	switch {
	case v.Lane == "":
		return w
	case slices.Contains(c.Between, v.Lane):
		w.Lane = "cut off from " + others(c.And)
	default:
		w.Lane = "cut off from " + others(c.Between)
	}
	w.EndedBy = by(Heal{})
	return w
}

// Heal is the end of a [Cut].
type Heal struct{ Between []string }

// Parties are those of [Cut.Between].
func (h Heal) Parties() []string { return h.Between }

// Kind is "heal".
func (Heal) Kind() string { return "heal" }

// Fields implements [What].
func (h Heal) Fields(f Fields) Fields { return f.List("between", h.Between) }

// AppendText appends nothing: the peer has both sides.
func (Heal) AppendText(b []byte) []byte { return b }

// Words implements [What].
func (Heal) Words(View) Words { return Words{Story: "CONNECTED again"} }

// Toxic is a toxic on the links between two sides.
type Toxic struct {
	Name         string
	Between, And []string
	Direction    string
	For          time.Duration
}

// Parties are those of one side.
func (t Toxic) Parties() []string { return t.Between }

// Struck are those of both sides.
func (t Toxic) Struck() []string { return slices.Concat(t.Between, t.And) }

// Kind is "toxic".
func (Toxic) Kind() string { return "toxic" }

// Fields implements [What].
func (t Toxic) Fields(f Fields) Fields {
	f = f.List("between", t.Between).List("and", t.And)
	return f.Texts("name", t.Name, "direction", t.Direction).Lasts("for", t.For)
}

// AppendText appends its name, both sides, and for how long.
func (t Toxic) AppendText(b []byte) []byte {
	sides := strings.Join(t.Between, ",") + " and " + others(t.And)
	return fmt.Appendf(b, "%s, between %s (%s) %s", t.Name, sides, t.Direction, Lasts(t.For))
}

// Words implements [What].
func (t Toxic) Words(View) Words {
	return Words{Story: "NETWORK: " + line(t), Lane: "network " + t.Name, EndedBy: by(ToxicEnd{}), Name: t.Name}
}

// ToxicEnd is the end of a [Toxic].
type ToxicEnd struct {
	Name    string
	Between []string
}

// Parties are those of [Toxic.Between].
func (t ToxicEnd) Parties() []string { return t.Between }

// Kind is "toxic-end".
func (ToxicEnd) Kind() string { return "toxic-end" }

// Fields implements [What].
func (t ToxicEnd) Fields(f Fields) Fields { return f.Text("name", t.Name).List("between", t.Between) }

// AppendText appends its name.
func (t ToxicEnd) AppendText(b []byte) []byte { return append(b, t.Name...) }

// Words implements [What].
func (t ToxicEnd) Words(View) Words {
	return Words{Story: "network as before: " + line(t), Name: t.Name}
}

// Refuse is a server that refuses new connections.
type Refuse struct{ For time.Duration }

// Kind is "refuse".
func (Refuse) Kind() string { return "refuse" }

// Fields implements [What].
func (r Refuse) Fields(f Fields) Fields { return f.Lasts("for", r.For) }

// Words implements [What].
func (r Refuse) Words(View) Words {
	lasts := Lasts(r.For)
	return Words{Story: "REFUSES connections " + lasts, Lane: "refuses connections " + lasts, EndedBy: by(RefuseEnd{})}
}

// RefuseEnd is the end of [Refuse].
type RefuseEnd struct{}

// Kind is "refuse-end".
func (RefuseEnd) Kind() string { return "refuse-end" }

// Fields implements [What].
func (RefuseEnd) Fields(f Fields) Fields { return f }

// Words implements [What].
func (RefuseEnd) Words(View) Words { return Words{Story: "takes connections again"} }

// Stall is a server that serves no request.
type Stall struct{ For time.Duration }

// Kind is "stall".
func (Stall) Kind() string { return "stall" }

// Fields implements [What].
func (s Stall) Fields(f Fields) Fields { return f.Lasts("for", s.For) }

// Words implements [What].
func (s Stall) Words(View) Words {
	return Words{Story: "STALLS " + Lasts(s.For), Lane: "stalled " + Lasts(s.For), EndedBy: by(StallEnd{})}
}

// StallEnd is the end of a [Stall].
type StallEnd struct{}

// Kind is "stall-end".
func (StallEnd) Kind() string { return "stall-end" }

// Fields implements [What].
func (StallEnd) Fields(f Fields) Fields { return f }

// Words implements [What].
func (StallEnd) Words(View) Words { return Words{Story: "goes on"} }

// ReadOnly is a server that refuses writes.
type ReadOnly struct{ For time.Duration }

// Kind is "read-only".
func (ReadOnly) Kind() string { return "read-only" }

// Fields implements [What].
func (r ReadOnly) Fields(f Fields) Fields { return f.Lasts("for", r.For) }

// Words implements [What].
func (r ReadOnly) Words(View) Words {
	return Words{Story: "READ-ONLY " + Lasts(r.For), Lane: "read-only " + Lasts(r.For), EndedBy: by(ReadOnlyEnd{})}
}

// ReadOnlyEnd is the end of [ReadOnly].
type ReadOnlyEnd struct{}

// Kind is "read-only-end".
func (ReadOnlyEnd) Kind() string { return "read-only-end" }

// Fields implements [What].
func (ReadOnlyEnd) Fields(f Fields) Fields { return f }

// Words implements [What].
func (ReadOnlyEnd) Words(View) Words { return Words{Story: "takes writes again"} }

// Depart is a member that is to leave its cluster.
type Depart struct{ For time.Duration }

// Kind is "depart".
func (Depart) Kind() string { return "depart" }

// Fields implements [What].
func (d Depart) Fields(f Fields) Fields { return f.Lasts("for", d.For) }

// Words implements [What].
func (d Depart) Words(View) Words {
	return Words{Story: "LEAVES its cluster " + Lasts(d.For), Lane: "out of its cluster " + Lasts(d.For),
		EndedBy: by(DepartEnd{})}
}

// DepartEnd is the end of [Depart].
type DepartEnd struct{}

// Kind is "depart-end".
func (DepartEnd) Kind() string { return "depart-end" }

// Fields implements [What].
func (DepartEnd) Fields(f Fields) Fields { return f }

// Words implements [What].
func (DepartEnd) Words(View) Words { return Words{Story: "joins its cluster again"} }

// ErrorReply is a server that answers requests with an error, one of faults.ReplyError. Count 0
// means all of them.
type ErrorReply struct {
	Error string
	Count int
	For   time.Duration
}

// Kind is "error-reply".
func (ErrorReply) Kind() string { return "error-reply" }

// Fields implements [What].
func (e ErrorReply) Fields(f Fields) Fields {
	return f.Text("error", e.Error).Int("count", int64(e.Count)).Lasts("for", e.For)
}

// AppendText appends the error, of how many requests, and for how long.
func (e ErrorReply) AppendText(b []byte) []byte {
	switch e.Count {
	case 0:
		return fmt.Appendf(b, "%s, %s", e.Error, Lasts(e.For))
	case 1:
		return fmt.Appendf(b, "%s, the next request, %s", e.Error, Lasts(e.For))
	}
	return fmt.Appendf(b, "%s, the next %d requests, %s", e.Error, e.Count, Lasts(e.For))
}

// Words implements [What].
func (e ErrorReply) Words(View) Words {
	return Words{Story: "ANSWERS WITH AN ERROR: " + line(e), Lane: "answers with an error " + line(e),
		EndedBy: by(ErrorReplyEnd{}), Name: e.Error}
}

// ErrorReplyEnd is the end of an [ErrorReply].
type ErrorReplyEnd struct{ Error string }

// Kind is "error-reply-end".
func (ErrorReplyEnd) Kind() string { return "error-reply-end" }

// Fields implements [What].
func (e ErrorReplyEnd) Fields(f Fields) Fields { return f.Text("error", e.Error) }

// Words implements [What].
func (e ErrorReplyEnd) Words(View) Words {
	return Words{Story: "answers as before: " + line(e), Name: e.Error}
}

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

// Kind is "promote".
func (Promote) Kind() string { return "promote" }

// Fields implements [What].
func (p Promote) Fields(f Fields) Fields {
	f = f.Texts("old", p.Old, "fate", p.Fate).List("told", p.Told)
	return f.Int("has", p.Has).Int("of", p.Of).Is("follows", p.Follows)
}

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

// Words implements [What].
func (p Promote) Words(View) Words {
	return Words{Story: "PROMOTED " + line(p), Lane: "promoted " + line(p)}
}

// NotPromoted is a server that cannot be promoted because of its Role.
type NotPromoted struct{ Role string }

// Kind is "no-promote".
func (NotPromoted) Kind() string { return "no-promote" }

// Fields implements [What].
func (n NotPromoted) Fields(f Fields) Fields { return f.Text("role", n.Role) }

// AppendText appends its role.
func (n NotPromoted) AppendText(b []byte) []byte { return append(append(b, "it is "...), n.Role...) }

// Words implements [What].
func (n NotPromoted) Words(View) Words {
	return Words{Untold: ofNothing, Lane: "not promoted " + line(n)}
}

// Evict is a server that deletes keys. It deletes none if Role is set: it is
// down, or a replica.
type Evict struct {
	// Policy is one of faults.EvictionPolicy.
	Policy string
	Keys   []string
	Role   string
}

// Kind is "evict".
func (Evict) Kind() string { return "evict" }

// Fields implements [What].
func (e Evict) Fields(f Fields) Fields {
	return f.List("keys", e.Keys).Texts("policy", e.Policy, "role", e.Role)
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

// Words implements [What].
func (e Evict) Words(View) Words { return Words{Story: "EVICTS " + line(e), Lane: "evicts " + line(e)} }

// Flush is a server that deletes the data that What names, one of
// faults.FlushWhat. It deletes nothing if Role is set: it is down, or a
// replica.
type Flush struct{ What, Role string }

// Kind is "flush".
func (Flush) Kind() string { return "flush" }

// Fields implements [What].
func (f Flush) Fields(fields Fields) Fields { return fields.Texts("what", f.What, "role", f.Role) }

// AppendText appends what is deleted.
func (f Flush) AppendText(b []byte) []byte {
	if f.Role != "" {
		return append(append(b, "nothing: it is "...), f.Role...)
	}
	return append(b, f.What...)
}

// Words implements [What].
func (f Flush) Words(View) Words {
	return Words{Story: "FLUSHED: " + line(f), Lane: "flushed " + line(f)}
}

// Operate is an operator who changes the keys of the lock by hand, or ends the sessions that have it.
type Operate struct {
	// Does is one of faults.Edit, or [EndsSession].
	Does string
	// Of are the keys or sessions concerned. It is empty where there are none, or the server is down or no primary.
	Of []string
}

// EndsSession is what an [Operate] does that ends sessions.
const EndsSession = "end_session"

// Kind is "operate".
func (Operate) Kind() string { return "operate" }

// Fields implements [What].
func (o Operate) Fields(f Fields) Fields { return f.Text("does", o.Does).List("of", o.Of) }

// AppendText appends what the operator does, and to what.
func (o Operate) AppendText(b []byte) []byte {
	does := map[string]string{"delete": "deletes", "overwrite": "writes over", EndsSession: "ends the session"}[o.Does]
	if len(o.Of) == 0 {
		return append(b, "finds nothing of the lock"...)
	}
	return append(append(append(b, does...), ' '), strings.Join(o.Of, ", ")...)
}

// Words implements [What].
func (o Operate) Words(View) Words {
	return Words{Story: "OPERATOR " + line(o), Lane: "operator " + line(o)}
}

// by are the kinds of events that end a fault.
func by(ends ...What) (kinds []string) {
	for _, w := range ends {
		kinds = append(kinds, w.Kind())
	}
	return kinds
}

// Lasts is a duration in words.
func Lasts(d time.Duration) string {
	if d == 0 {
		return "until healed"
	}
	return "for " + d.String()
}

// others are one side of a fault on the network.
func others(and []string) string {
	if len(and) == 0 {
		return "everything else"
	}
	return strings.Join(and, ",")
}
