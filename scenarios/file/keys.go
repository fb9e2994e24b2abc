package file

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
)

// Key is a key of a scenario file under world, lock or workload. Its row has all that is known of it in one place: how
// [Parse] reads it, [Format] writes it and Validate checks it, how a failure is made plainer by it, what a live run
// scales, and what the schema allows. Its value is a field of [Scenario], which has its meaning; [Defaults] has its
// default. The keys whose values depend on each other have more rules, beside [Scenario.Validate].
type Key struct {
	// Group is "world", "lock" or "workload".
	Group, Name string
	// Always says that [Format] writes the key also if it has its default.
	Always bool
	// Doc says what the key means.
	Doc string
	// Value is what it holds.
	Value Value
}

// Value is what a key holds: a [Number], a [Length], a [Span], a [Flag], a [Word], or [Names].
type Value interface {
	read(f fields, key string, s *Scenario)
	check(path string, s *Scenario) error
	// text is the value as a file has it; "" for a zero value.
	text(s *Scenario) string
	// domain says in words what it may be.
	domain() string
	// absent says in words what a file has that lacks it, by the defaults.
	absent(byDefault *Scenario) string
	// Plainer are changes that make a scenario plainer, those that change most first.
	Plainer() []func(*Scenario)
}

// Number is a whole number.
type Number struct {
	Of          func(*Scenario) *int
	Least, Most int
	// Unset says what a file does that has no number, where 0 stands for none.
	Unset string
	// Plain are the numbers to which a failure is reduced, the smallest first.
	Plain []int
}

// Length is a length of time.
type Length struct {
	Of    func(*Scenario) *time.Duration
	Least time.Duration
	// Divides is a length that it must divide, unless it is 0. A live run leaves it as it is. 0 is for any length.
	Divides time.Duration
	// Whole says that it must be a whole number of milliseconds, since Redis counts no finer.
	Whole bool
	// Grain is the unit to which a live run rounds it. 0 means a millisecond.
	Grain time.Duration
	// Unset says what a file does that wants no limit: the length is a limit then, and 0 stands for none.
	Unset string
	// Plain are the lengths to which a failure is reduced, besides those between.
	Plain []time.Duration
}

// Limit says that the length is a limit, of which 0 is none.
func (v Length) Limit() bool { return v.Unset != "" }

// Span is a length of time that is drawn between two ends.
type Span struct {
	Of    func(*Scenario) *Range
	Least time.Duration
	// Message says that it is the time of a message, which a live run does not make as short as the others.
	Message bool
	// Plain are the lengths to which a failure is reduced.
	Plain []time.Duration
}

// Flag is true or false. False is plainer.
type Flag struct{ Of func(*Scenario) *bool }

// Word is one of several words. The first is the default, and the plainest.
type Word struct {
	Get   func(*Scenario) string
	Set   func(*Scenario, string)
	Words []string
}

// Names are the names of the resources.
type Names struct{ Of func(*Scenario) *[]string }

// keys are the rows, in the order in which a file is written.
var keys = []Key{
	{"world", "clients", true,
		"How many clients `c0`, `c1`, … there are.",
		Number{Of: func(s *Scenario) *int { return &s.World.Clients }, Least: 1, Most: MaxClients}},
	{"world", "latency", true,
		"How long a message takes one way, drawn for each message.",
		Span{Of: func(s *Scenario) *Range { return &s.World.Latency }, Message: true,
			Plain: []time.Duration{time.Millisecond}}},
	{"world", "replicas", false,
		"How many replicas `r0` has: `r0a`, `r0b`, `r0c`. The locks reach their first node by the name `primary`, " +
			"which a failover moves.",
		Number{Of: func(s *Scenario) *int { return &s.World.Replicas }, Most: MaxReplicas}},
	{"world", "lag", false,
		"By how much a replica gets a write later than a message would take.",
		Span{Of: func(s *Scenario) *Range { return &s.World.Lag }, Plain: []time.Duration{0}}},
	{"world", "persistence", false,
		"The data of a node that survives a crash: `none`; `rdb`, the last snapshot; `everysec`, all but, after a " +
			"power loss, the last second; `always`, everything.",
		word(func(s *Scenario) *Persistence { return &s.World.Persistence }, Persistences()...)},
	{"world", "snapshot", false,
		"With `rdb`: the time between two snapshots.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.World.Snapshot },
			Grain: time.Second, Plain: []time.Duration{time.Minute}}}, // Redis counts no finer
	{"world", "min_replicas", false,
		"`min-replicas-to-write` of `r0` and its replicas: a primary refuses writes while fewer replicas have " +
			"answered lately.",
		Number{Of: func(s *Scenario) *int { return &s.World.MinReplicas }, Most: MaxReplicas,
			Plain: []int{0}}},
	{"world", "max_lag", false,
		"`min-replicas-max-lag`: what lately means, in whole seconds.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.World.MaxLag },
			Grain: time.Second, Plain: []time.Duration{10 * time.Second}}}, // Redis counts no finer
	{"world", "down_after", false,
		"`down-after-milliseconds` of the Sentinels.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.World.DownAfter },
			Whole: true, Plain: []time.Duration{5 * time.Second}}},
	{"world", "failover_timeout", false,
		"`failover-timeout` of the Sentinels.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.World.FailoverTimeout },
			Whole: true, Plain: []time.Duration{time.Minute}}},
	{"world", "quorum", false,
		"How many Sentinels have to take the primary for down before one replaces it.",
		Number{Of: func(s *Scenario) *int { return &s.World.Quorum }, Most: MaxServers,
			Unset: "leave it out for a majority", Plain: []int{0}}},
	{"world", "node_timeout", false,
		"`cluster-node-timeout` of the nodes of a Redis Cluster, `100ms` or more.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.World.NodeTimeout },
			Whole: true, Plain: []time.Duration{15 * time.Second}}},
	{"world", "skew", false,
		"By how much the wall clocks of the servers may disagree with those of the clients from the start; drawn " +
			"for each.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.World.Skew }, Plain: []time.Duration{0}}},
	{"world", "clock_step", false,
		"The length of the steps in which the clients read their clocks, such as `1µs` or `1ms`: two readings " +
			"within one step are equal, and so are ids made of them. It is no longer than the shortest message. " +
			"Timers do not go by steps.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.World.ClockStep },
			Divides: time.Millisecond, Plain: []time.Duration{0}}},

	{"lock", "ttl", true,
		"How long the lock lasts without a renewal.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.Lock.TTL }, Least: time.Millisecond, Whole: true}},
	{"lock", "backoff", true,
		"The time between two attempts: the first end limits the first wait, the second every later one.",
		Span{Of: func(s *Scenario) *Range { return &s.Lock.Backoff }, Least: time.Millisecond,
			Plain: []time.Duration{100 * time.Millisecond}}},
	{"lock", "client", false,
		"The options of go-redis. `quiet` sends nothing twice and respects contexts; `stock` has the defaults of " +
			"go-redis, with its retries and without respect for the deadline of a context.",
		word(func(s *Scenario) *ClientProfile { return &s.Lock.Client }, ClientQuiet, ClientStock)},
	{"lock", "wait", false,
		"How the lock waits: `poll`, or `notify`, which listens for the release.",
		word(func(s *Scenario) *WaitMode { return &s.Lock.Wait }, WaitPoll, WaitNotify)},
	{"lock", "owner", false,
		"Owner ids, for a lock that takes them, such as a reentrant one. `fresh`: one for each client; `shared`: " +
			"one for all; `alike`: ids that resemble each other (1, 10, 1a, 1A); `round`: one for each round.",
		word(func(s *Scenario) *OwnerIDs { return &s.Lock.Owner }, Owners()...)},
	{"lock", "nodes", false,
		"How many Redis nodes a lock over a quorum has.",
		Number{Of: func(s *Scenario) *int { return &s.Lock.Nodes }, Most: MaxRedis,
			Unset: "leave it out for the lock's own", Plain: []int{0}}},

	{"workload", "rounds", true,
		"How many rounds each client makes.",
		Number{Of: func(s *Scenario) *int { return &s.Workload.Rounds }, Least: 1, Most: MaxRounds}},
	{"workload", "hold", true,
		"The work between the read and the write.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.Workload.Hold }}},
	{"workload", "think", true,
		"The time between two rounds: half of this to one and a half of it, drawn.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.Workload.Think }}},
	{"workload", "stagger", true,
		"Client number n starts after n times this. With `0s` each starts at an instant drawn from `0s` to " +
			"`think`.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.Workload.Stagger }, Plain: []time.Duration{0}}},
	{"workload", "timeout", false,
		"How long a client waits for the store. After that the outcome of the operation is unknown, and the " +
			"client releases.",
		limit(func(s *Scenario) *time.Duration { return &s.Workload.Timeout }, "leave timeout out to wait for ever")},
	{"workload", "checks_until", true,
		"Whether a client checks its lease. `never`: it does not. `lost`: it stops when the lock has reported the " +
			"loss. `steps`: it also compares the end of the lease with its clock before each step.",
		word(func(s *Scenario) *checker.Care { return &s.Workload.ChecksUntil },
			checker.CareNever, checker.CareLost, checker.CareSteps)},
	{"workload", "kind", false,
		docOfKinds(),
		word(func(s *Scenario) *WorkloadKind { return &s.Workload.Kind }, WorkloadKinds()...)},
	{"workload", "nested", false,
		"How often a section enters the same lock again, after its read. A lock without owners keeps it out: it " +
			"gives up after two TTLs. Only in a register.",
		Number{Of: func(s *Scenario) *int { return &s.Workload.Nested }, Most: MaxNested, Plain: []int{0, 1}}},
	{"workload", "beside", false,
		"A section has two locks at once: after its reads the client acquires the next of `resources` too, for a " +
			"section of its own with an eighth of the work, and releases it before it goes on. For two `resources` or " +
			"more.",
		Flag{func(s *Scenario) *bool { return &s.Workload.Beside }}},
	{"workload", "request", false,
		"The lifetime of the context of a round, starting at the acquire. The lock is released under that " +
			"context.",
		limit(func(s *Scenario) *time.Duration { return &s.Workload.Request },
			"leave request out for a context without a deadline")},
	{"workload", "deadline", false,
		"The contexts of `request` and of the calls have their ends as deadlines; otherwise they are cancelled " +
			"then.",
		Flag{func(s *Scenario) *bool { return &s.Workload.Deadline }}},
	{"workload", "data", false,
		"Where the protected data is. `store`: in s0. `database`: in the database that has the lock, behind the " +
			"same fence. `transaction`: there too, and the client works in the transaction that has the lock, without " +
			"a fence. For locks in a database.",
		word(func(s *Scenario) *DataPlace { return &s.Workload.Data }, DataPlaces()...)},
	{"workload", "tries", false,
		"Every second client, from c1 on, does not wait for the lock: it asks again and again with `TryAcquire`, " +
			"after a random part of the backoff. For locks that can.",
		Flag{func(s *Scenario) *bool { return &s.Workload.Tries }}},
	{"workload", "extend", false,
		"How often a section extends its lease while it works, if the lock can. At the points `extend`, and " +
			"`extended` or `not-extended`.",
		Number{Of: func(s *Scenario) *int { return &s.Workload.Extend }, Most: MaxExtend, Plain: []int{0, 1}}},
	{"workload", "acquire_within", false,
		"The lifetime of the context of an acquire, within that of `request`. It is cancelled just after the " +
			"acquire has returned, too.",
		limit(func(s *Scenario) *time.Duration { return &s.Workload.AcquireWithin },
			"leave acquire_within out to wait for ever")},
	{"workload", "extend_within", false,
		"The lifetime of the context of an extension.",
		limit(func(s *Scenario) *time.Duration { return &s.Workload.ExtendWithin },
			"leave extend_within out to wait for ever")},
	{"workload", "release_within", false,
		"The lifetime of the context of a release, within that of `request`.",
		limit(func(s *Scenario) *time.Duration { return &s.Workload.ReleaseWithin },
			"leave release_within out to wait for ever")},
	{"workload", "resources", false,
		"The names of the locks for which the clients contend. With several, each round draws its own.",
		Names{func(s *Scenario) *[]string { return &s.Workload.Resources }}},
	{"workload", "release", false,
		"`early` releases before the write is sent. `retried` calls a release that failed up to three times more. " +
			"`later` does that on another goroutine, after the client's next acquire has begun: at the points " +
			"`release-again`, and `released-again` or `not-released-again`. `early` not in a fill or a job.",
		word(func(s *Scenario) *ReleaseTime { return &s.Workload.Release }, ReleaseTimes()...)},
	{"workload", "look", false,
		"Only in a fill. `once` leaves out the second look after the grant: then a client that had to wait " +
			"computes what is there.",
		word(func(s *Scenario) *LookTimes { return &s.Workload.Look }, LookTwice, LookOnce)},
	{"workload", "ticks", false,
		"Only for a leader. How many ticks it makes in a term, at most. Then it resigns.",
		Number{Of: func(s *Scenario) *int { return &s.Workload.Ticks }, Most: MaxTicks,
			Unset: fmt.Sprintf("leave it out for %d", UsualTicks), Plain: []int{0}}},
	{"workload", "stop", false,
		"Only for a leader. How long it goes on with its ticks after it was told that it has lost its lock.",
		Length{Of: func(s *Scenario) *time.Duration { return &s.Workload.Stop }, Plain: []time.Duration{0}}},
	{"workload", "stock", false,
		"Only for a stock. How many units there are at first, of each of the `resources`.",
		Number{Of: func(s *Scenario) *int { return &s.Workload.Stock }, Most: MaxUnits,
			Unset: fmt.Sprintf("leave it out for %d", UsualStock), Plain: []int{0}}},
	{"workload", "take", false,
		"Only for a stock. How many units a section takes: it takes none if fewer are left.",
		Number{Of: func(s *Scenario) *int { return &s.Workload.Take }, Most: MaxUnits,
			Unset: fmt.Sprintf("leave it out for %d", UsualTake), Plain: []int{0}}},
}

// Keys are the keys under world, lock and workload that have a row. The numbers of servers, the name of the lock and
// the section of a workload have a form of their own. The caller owns the slice.
func Keys() []Key { return slices.Clone(keys) }

func word[T ~string](of func(*Scenario) *T, choices ...T) Word {
	return Word{
		Get:   func(s *Scenario) string { return string(*of(s)) },
		Set:   func(s *Scenario, w string) { *of(s) = T(w) },
		Words: words(choices),
	}
}

func limit(of func(*Scenario) *time.Duration, unset string) Length {
	return Length{Of: of, Unset: unset, Plain: []time.Duration{0}}
}

func (v Number) read(f fields, key string, s *Scenario) { f.whole(key, v.Of(s)) }

func (v Number) check(path string, s *Scenario) error {
	n := *v.Of(s)
	switch {
	case n >= v.Least && n <= v.Most:
		return nil
	case v.Unset != "":
		return wrong(path, "%d is out of range: give a number from 1 to %d, or %s", n, v.Most, v.Unset)
	}
	return wrong(path, "%d is out of range: give a number from %d to %d", n, v.Least, v.Most)
}

func (v Number) text(s *Scenario) string { return unlessZero(*v.Of(s)) }

// Plainer implements [Value].
func (v Number) Plainer() (out []func(*Scenario)) {
	for _, n := range v.Plain {
		out = append(out, func(s *Scenario) { *v.Of(s) = min(*v.Of(s), n) })
	}
	return out
}

func (v Length) read(f fields, key string, s *Scenario) {
	if v.Limit() {
		f.positive(key, v.Of(s), v.Unset)
	} else {
		f.duration(key, v.Of(s))
	}
}

func (v Length) check(path string, s *Scenario) error {
	d := *v.Of(s)
	if v.Whole && d%time.Millisecond != 0 {
		return wrong(path, "%v is not a whole number of milliseconds: Redis counts no finer", d)
	}
	if v.Divides > 0 && d > 0 && v.Divides%d != 0 {
		return wrong(path, "%v is no whole part of %v: give a length such as 1µs, 100µs or 1ms, or 0s for none", d, v.Divides)
	}
	return inLimits(path, d, v.Least)
}

func (v Length) text(s *Scenario) string { return unlessZero(*v.Of(s)) }

// Plainer implements [Value].
func (v Length) Plainer() (out []func(*Scenario)) {
	for _, d := range v.Plain {
		out = append(out, func(s *Scenario) { *v.Of(s) = d })
	}
	return out
}

func (v Span) read(f fields, key string, s *Scenario) { f.span(key, v.Of(s)) }

func (v Span) check(path string, s *Scenario) error { return ordered(path, *v.Of(s), v.Least) }

func (v Span) text(s *Scenario) string { return unlessZero(*v.Of(s)) }

// Plainer implements [Value].
func (v Span) Plainer() (out []func(*Scenario)) {
	for _, d := range v.Plain {
		out = append(out, func(s *Scenario) { *v.Of(s) = Range{Min: d, Max: d} })
	}
	return out
}

func (v Flag) read(f fields, key string, s *Scenario) { f.flag(key, v.Of(s)) }

func (v Flag) check(string, *Scenario) error { return nil }

func (v Flag) text(s *Scenario) string { return unlessZero(*v.Of(s)) }

// Plainer implements [Value].
func (v Flag) Plainer() []func(*Scenario) {
	return []func(*Scenario){func(s *Scenario) { *v.Of(s) = false }}
}

func (v Word) read(f fields, key string, s *Scenario) {
	made := v.Get(s)
	f.choice(key, &made)
	v.Set(s, made)
}

// check accepts no word too, in a scenario built in Go: that means the default.
func (v Word) check(path string, s *Scenario) error {
	made := v.Get(s)
	if made == "" || slices.Contains(v.Words, made) {
		return nil
	}
	return wrong(path, "%q is not known: %s", made, prose.Choose(made, v.Words))
}

func (v Word) text(s *Scenario) string { return v.Get(s) }

// Plainer implements [Value].
func (v Word) Plainer() []func(*Scenario) {
	return []func(*Scenario){func(s *Scenario) { v.Set(s, v.Words[0]) }}
}

func (v Names) read(f fields, key string, s *Scenario) {
	if _, ok := f.get(key); ok {
		*v.Of(s) = nil
	}
	f.words(key, v.Of(s), "[order, invoice]")
}

func (v Names) check(_ string, s *Scenario) error { return validateResources(*v.Of(s)) }

func (v Names) text(s *Scenario) string { return listed(*v.Of(s)) }

// Plainer implements [Value].
func (v Names) Plainer() []func(*Scenario) {
	return []func(*Scenario){
		func(s *Scenario) { *v.Of(s) = *v.Of(Defaults()) },
		func(s *Scenario) { *v.Of(s) = slices.Clone((*v.Of(s))[:1]) },
	}
}

func unlessZero[T comparable](v T) string {
	var zero T
	if v == zero {
		return ""
	}
	return fmt.Sprint(v)
}

// keysOf are the rows of a group.
func keysOf(group string) []Key {
	return slices.DeleteFunc(Keys(), func(k Key) bool { return k.Group != group })
}

// readKeys reads the keys of a group that have a row. others are those that have none.
func readKeys(v value, group string, s *Scenario, others ...string) fields {
	rows := keysOf(group)
	var names []string
	for _, k := range rows {
		names = append(names, k.Name)
	}
	f := v.fields(append(names, others...)...)
	for _, k := range rows {
		k.Value.read(f, k.Name, s)
	}
	return f
}

// checkKeys checks the keys of a group that have a row.
func (s checked) checkKeys(group string) error {
	for i := range keys {
		if k := &keys[i]; k.Group == group {
			if err := k.Value.check(k.Group+"."+k.Name, s.Scenario); err != nil {
				return err
			}
		}
	}
	return nil
}

// formatKeys is a group as a file has it, each key after a comma.
func formatKeys(group string, s, byDefault *Scenario) string {
	text := ""
	for _, k := range keysOf(group) {
		v := k.Value.text(s)
		switch {
		case k.Always && v == "": // a length or a span of 0
			text += fmt.Sprintf(", %s: %v", k.Name, time.Duration(0))
		case v != "" && (k.Always || v != k.Value.text(byDefault)):
			text += fmt.Sprintf(", %s: %s", k.Name, v)
		}
	}
	return text
}
