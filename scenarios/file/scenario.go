package file

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/kinds"
	"locksim/scenarios/kinds/server"
)

// Limits of a scenario. Values beyond them are refused with a clear error, so that
// no file can make a run without end.
const (
	MaxClients  = 64             // clients of a world
	MaxRedis    = 9              // Redis nodes of a world
	MaxRounds   = 1000           // rounds of a client
	MaxReplicas = 3              // replicas of r0
	MaxNested   = 8              // nested acquires of a section
	MaxExtend   = 8              // extensions of a lease by its holder
	MaxResource = 64             // resources of a workload
	MaxFaults   = 64             // faults of a schedule
	MaxDuration = 24 * time.Hour // any single length of time, virtual
	MaxLatency  = time.Minute    // of a message, one way: a client that waits longer for each answer does not end
	// of a client that polls while another one holds the lock: a run delivers 2,000,000 events
	MaxTries  = 600_000
	MaxSource = 32 << 10 // bytes of a scenario file
	MaxLines  = 1000     // lines of a scenario file
)

// Scenario is what a world can play: who takes part, what they do, what goes wrong,
// and how it is expected to end. Together with a seed it determines a run
// completely.
//
// A Scenario is a value. It is usually read from a file by Parse or Load, which
// fill in the defaults that the fields name and check everything. One built in Go
// needs all of its fields set, and is checked by Validate. It must not change while
// a run uses it; several runs may use it at once.
type Scenario struct {
	// Name is the scenario's short name: lower-case letters, digits, hyphens.
	// It is the only key that a file must have.
	Name string
	// Title is one line that says what happens. Default: empty.
	Title string
	// Why says what the scenario shows, and who described it first. Default:
	// empty.
	Why string
	// Catalogue lists the failure modes that the scenario shows, by their ids in
	// the catalogue, such as F11. Default: none.
	Catalogue []string
	// World is who takes part.
	World World
	// Lock is the lock under test.
	Lock LockSpec
	// Store is the name of a fence: a protected store that is itself under test, in place of s0, which is assumed to be
	// right. A lock of the scenario mints the tokens. Default: none, s0.
	Store string
	// Workload is what the clients do.
	Workload Workload
	// Faults is what goes wrong. Default: nothing.
	Faults []faults.Fault
	// Locks are the locks that play the scenario: names and groups, as LockNames
	// resolves them. Default: Lock.Kind alone.
	Locks []string
	// Expect is the worst label that any seed may show, per lock kind and fencing
	// mode. A seed may show a better one, never a worse one. A file may name a
	// group of kinds: Parse expands it, and later lines override earlier ones.
	// Default: nothing is expected.
	Expect map[string]map[fence.Mode]checker.Label

	// File is the name of the file as it was given; empty for a scenario built in Go.
	File string
	// Source is the file's content as it was parsed.
	Source []byte

	at map[string]faults.Pos // the position of each field in the file, by path
}

// World is the clients and servers of a scenario, and the latency between them.
// There is always the protected store s0.
type World struct {
	// Redis is the number of Redis nodes r0, r1, …: 1 to MaxRedis. Default: 1.
	// A lock that needs more nodes gets more.
	Redis int
	// Clients is the number of clients c0, c1, …: 1 to MaxClients. Default: 2.
	Clients int
	// Latency is the time that a message takes one way, drawn for each message.
	// Default: 1ms..5ms.
	Latency Range
	// Replicas is the number of replicas of r0, called r0a, r0b, …: 0 to
	// MaxReplicas. With replicas, a lock reaches its first node by the name of
	// the primary, which a failover moves. Default: 0.
	Replicas int
	// Lag is the additional delay with which a replica receives a write, beyond the
	// latency. Default: 0s.
	Lag Range
	// Persistence is what a node keeps after a crash. Default: none.
	Persistence Persistence
	// Servers are the servers of other kinds, sorted by the names of their kinds.
	// Default: none, or those that the lock needs.
	Servers []ServerCount
	// MinReplicas is min-replicas-to-write of r0 and its replicas: a primary refuses writes while fewer replicas have
	// answered within MaxLag. Default: 0, it takes all writes.
	MinReplicas int
	// MaxLag is min-replicas-max-lag, in whole seconds. Default, and 0s: 10s.
	MaxLag time.Duration
	// DownAfter is down-after-milliseconds of Sentinels: how long a server does not answer before one takes it for down.
	// Default, and 0s: 5s.
	DownAfter time.Duration
	// FailoverTimeout is failover-timeout of Sentinels. Default, and 0s: 60s.
	FailoverTimeout time.Duration
	// Quorum is how many Sentinels have to take the primary for down before one replaces it. Default: 0, a majority.
	Quorum int
	// NodeTimeout is cluster-node-timeout of the nodes of a Redis Cluster: how long one does not answer before another
	// takes it for failing. At least 100ms. Default, and 0s: 15s, as in Redis.
	NodeTimeout time.Duration
	// Snapshot is the time between two snapshots of a node with persistence
	// rdb. Default: 60s.
	Snapshot time.Duration
	// Skew is by how much the wall clocks of the servers disagree with those of the
	// clients: each is ahead or behind by a length up to it, drawn by the seed.
	// Default: 0s.
	Skew time.Duration
	// ClockStep is the length of the steps in which clients read their clocks, as those of many
	// systems are read: two readings within one step are equal. Timers do not go by
	// steps. It divides a millisecond, and is no longer than the shortest Latency. Default: 0s,
	// clocks are read to the nanosecond.
	ClockStep time.Duration
}

// LockSpec is the lock under test.
type LockSpec struct {
	// Kind names the lock, such as "fenced". Default: fenced.
	Kind string
	// TTL is the time after which the lock of a silent holder expires. At least 1
	// ms, in whole milliseconds, since Redis counts no finer. Default: 10s.
	TTL time.Duration
	// Backoff is the time between two attempts to get the lock: Min bounds the
	// first pause, Max every later one. It must be positive. Default:
	// 50ms..200ms.
	Backoff Range
	// Client is the configuration of its go-redis clients. Default: quiet.
	Client ClientProfile
	// Wait is how it waits for a lock that another client holds. Default: poll.
	Wait WaitMode
	// Owner says which owner ids a lock gets that takes them. Default: fresh.
	Owner OwnerIDs
	// Nodes is the number of Redis nodes of a lock over a quorum, 1 to MaxRedis.
	// Default: 0, the lock's own number.
	Nodes int
	// Settings are those that the lock has by names of its own, sorted by the names. Default: none, the lock's own.
	Settings []Setting `json:",omitempty"`
}

// ClientProfile is the configuration of the go-redis clients of a lock.
type ClientProfile string

const (
	// ClientQuiet does nothing in addition to the requests: they end with their
	// contexts, and nothing is sent twice.
	ClientQuiet ClientProfile = "quiet"
	// ClientStock has the defaults that users run: a request outlasts its
	// context, and is sent up to three times more when its reply is lost (F27).
	ClientStock ClientProfile = "stock"
)

// WaitMode is how a lock waits while another client holds it.
type WaitMode string

const (
	// WaitPoll sends a new request after each backoff.
	WaitPoll WaitMode = "poll"
	// WaitNotify subscribes to the release (F50).
	WaitNotify WaitMode = "notify"
)

// OwnerIDs say which owner ids a lock gets, such as a reentrant one.
type OwnerIDs string

const (
	// OwnerFresh is an id for each client.
	OwnerFresh OwnerIDs = "fresh"
	// OwnerShared is one id that all clients use (F31, F32).
	OwnerShared OwnerIDs = "shared"
	// OwnerAlike is an id for each client that resembles those of others: the beginning
	// of another one, other capitals, other characters than letters and digits.
	OwnerAlike OwnerIDs = "alike"
	// OwnerRound is an id for each round of a client, as for a job of its own.
	OwnerRound OwnerIDs = "round"
)

// Owners lists them. The caller owns the slice.
func Owners() []OwnerIDs { return []OwnerIDs{OwnerFresh, OwnerShared, OwnerAlike, OwnerRound} }

// Workload is what every client does. One round is: acquire the lock, read the
// protected value, work for Hold, write, release; then Think. See [WorkloadKind] for
// others.
type Workload struct {
	// Kind is what a section does. Default: register.
	Kind WorkloadKind
	// Rounds is how many rounds each client makes: 1 to MaxRounds. Default: 1.
	Rounds int
	// Hold is the work between the read and the write. Default: 2s.
	Hold time.Duration
	// Think is the time between two rounds. Default: 1s.
	Think time.Duration
	// Stagger is the time between the starts of the clients: c0 starts at 0, c1
	// at Stagger, c2 at twice that. Default: 0s, all at once.
	Stagger time.Duration
	// Timeout is how long a client waits for the store's answer. After that the
	// outcome of the operation is unknown, and the client releases the lock.
	// Default: 0s, without limit.
	Timeout time.Duration
	// ChecksUntil is when a client checks whether its lease has ended. Default:
	// never.
	ChecksUntil checker.Care
	// Nested is the number of nested acquires in a section, after its read: under
	// each inner lease the client reads and writes another register, and releases
	// the inner lease (F34). A lock without owners keeps it out, or lets it in and promises nothing of that: there the
	// client gives up after two TTLs. 0 to MaxNested. Default: 0.
	Nested int
	// Beside says that a section has two locks at once: after its reads the client acquires the next one of Resources too,
	// for a section of its own, and releases it before it goes on. A client with the last of Resources has one lock.
	// Only for two Resources or more. Default: one lock at a time.
	Beside bool
	// Request is the life of the context that a round serves, from the Acquire on;
	// the lock is released under that context (F29). Default: 0s, until the client
	// ends.
	Request time.Duration
	// Deadline says that the contexts of Request and of the calls have their ends as
	// deadlines, which the lock can see beforehand. Default: they are cancelled then.
	Deadline bool
	// AcquireWithin, ExtendWithin and ReleaseWithin are the lives of the contexts of
	// these calls, those of Acquire and Release within that of Request. The one of Acquire
	// is cancelled just after it has returned, too, as by code that bounds only the wait.
	// Default: 0s, until the round ends.
	AcquireWithin, ExtendWithin, ReleaseWithin time.Duration
	// Data is where the protected data is. Default: store.
	Data DataPlace
	// Tries says that every second client, from c1 on, does not wait for the lock: it calls
	// TryAcquire again and again, after a random part of the Backoff. Only for a lock that
	// is a lock.Trier. Default: all wait.
	Tries bool
	// Extend is how often a section extends its lease while it works, in equal
	// parts of Hold, if the lock can. 0 to MaxExtend. Default: 0.
	Extend int
	// Resources are the names of the locks for which the clients contend. With more
	// than one, each round draws its own. Default: order.
	Resources []string
	// Release says when the lock is released. Default: last.
	Release ReleaseTime
	// Look says how often a client looks for a value before it computes it. Only for
	// a fill. Default: twice.
	Look LookTimes
	// Ticks is how many ticks a leader makes in a term, at most, after which it resigns so that others lead too: 1 to
	// MaxTicks. 0 stands for UsualTicks. Only for a leader.
	Ticks int
	// Stop is how long a leader goes on with its ticks after it was told that it has lost its lock: it stops in its own
	// time. ChecksUntil says whether it listens at all. Only for a leader. Default: 0s, it makes no further step.
	Stop time.Duration
	// Stock is how many units there are at first, Take how many a section takes: 1 to MaxUnits. 0 stands for UsualStock
	// and UsualTake. Only for a stock.
	Stock, Take int
	// Section is what a section does, step by step, in place of what Kind says: at most
	// MaxSteps steps. A section reads a register once, before it writes it, writes it
	// once, and reads nothing after its last write. Default: nil, what Kind says.
	Section []Step
}

// DataPlace is where the data is that the lock protects.
type DataPlace string

// The places.
const (
	// DataStore is the store s0, behind the fence of the run.
	DataStore DataPlace = "store"
	// DataDatabase is the database that has the lock, behind the same fence. The client reaches it on connections that do
	// not have the lock.
	DataDatabase DataPlace = "database"
	// DataTransaction is that database too. The client works in the transaction that has the lock, which the release
	// commits, without a fence.
	DataTransaction DataPlace = "transaction"
)

// DataPlaces lists them, the default first. The caller owns the slice.
func DataPlaces() []DataPlace { return []DataPlace{DataStore, DataDatabase, DataTransaction} }

// LookTimes is how often a client looks for a value before it computes it.
type LookTimes string

const (
	// LookTwice looks again after the grant.
	LookTwice LookTimes = "twice"
	// LookOnce does not: a client that had to wait for the lock computes what another
	// one has computed meanwhile.
	LookOnce LookTimes = "once"
)

// ReleaseTime says when a client releases its lock.
type ReleaseTime string

const (
	// ReleaseLast releases it when the section is over.
	ReleaseLast ReleaseTime = "last"
	// ReleaseEarly releases it before the write is sent (F69).
	ReleaseEarly ReleaseTime = "early"
	// ReleaseRetried releases it when the section is over, and up to three times more if
	// that fails.
	ReleaseRetried ReleaseTime = "retried"
	// ReleaseLater releases it when the section is over and, if that fails, up to three times more after the client's next
	// Acquire has begun, on another goroutine: while that waits, or in the section of its grant. So do queues of calls
	// that failed. The first time is drawn, up to Backoff.Max and Hold after the call of Acquire.
	ReleaseLater ReleaseTime = "later"
)

// ReleaseTimes lists them, the default first. The caller owns the slice.
func ReleaseTimes() []ReleaseTime {
	return []ReleaseTime{ReleaseLast, ReleaseEarly, ReleaseRetried, ReleaseLater}
}

// Range is a span of time, both ends included. A file writes it as "1ms..5ms",
// or as "5ms" when both ends are the same.
type Range struct {
	// Min is the shortest, in nanoseconds.
	Min time.Duration `json:"min"`
	// Max is the longest, in nanoseconds.
	Max time.Duration `json:"max"`
}

// String is the range as a file writes it.
func (r Range) String() string {
	if r.Min == r.Max {
		return r.Min.String()
	}
	return fmt.Sprintf("%v..%v", r.Min, r.Max)
}

// Pos is the position of a field in the file that the scenario was read from. The
// path is written like "lock.kind", "faults[0].pause.for" or "expect.fenced.seal".
// A field with a single value has the position of that value; a group of fields has
// the position of its key. If the file leaves the field out, it is the position of
// the group that would have it. It is zero for a scenario built in Go.
func (s *Scenario) Pos(path string) faults.Pos {
	for path != "" {
		if pos, ok := s.at[path]; ok {
			return pos
		}
		path = parent(path)
	}
	return s.at[""]
}

// ErrorAt is an *InputError about the position pos in the scenario's file, with the
// source line and a caret. It is for errors that Parse cannot know: an unknown lock
// kind, a fault that never struck.
func (s *Scenario) ErrorAt(pos faults.Pos, format string, args ...any) *InputError {
	return NewInputError(s.Source, pos, format, args...)
}

// Defaults is a scenario with all fields set except the name.
func Defaults() *Scenario {
	return &Scenario{
		World: World{
			Redis: 1, Clients: 2, Latency: Range{time.Millisecond, 5 * time.Millisecond},
			Persistence: PersistNone, Snapshot: time.Minute,
			MaxLag: 10 * time.Second, DownAfter: 5 * time.Second, FailoverTimeout: time.Minute,
			NodeTimeout: 15 * time.Second,
		},
		Lock: LockSpec{
			Kind: "fenced", TTL: 10 * time.Second,
			Backoff: Range{50 * time.Millisecond, 200 * time.Millisecond},
			Client:  ClientQuiet, Wait: WaitPoll, Owner: OwnerFresh,
		},
		Workload: Workload{
			Kind: WorkloadRegister, Rounds: 1, Hold: 2 * time.Second, Think: time.Second,
			ChecksUntil: checker.CareNever, Release: ReleaseLast, Resources: []string{"order"}, Look: LookTwice, Data: DataStore,
		},
	}
}

// LockNames are the locks that play the scenario, each once: kinds in the order of
// [kinds.Names], then all others in the order in which they are named.
func (s *Scenario) LockNames() []string {
	named := s.Locks
	if len(named) == 0 {
		named = []string{s.Lock.Kind}
	}
	var all []string
	for _, name := range named {
		all = append(all, kinds.Members(name)...)
	}
	var out []string
	for _, name := range append(kinds.Names(), all...) {
		if slices.Contains(all, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Clone is a copy whose list of faults, and each fault, can be changed.
func (s *Scenario) Clone() *Scenario {
	c := *s
	c.Faults = slices.Clone(s.Faults)
	for i, f := range c.Faults {
		if f.When != nil {
			event := *f.When
			c.Faults[i].When = &event
		}
	}
	return &c
}

// Detach removes the file, the positions and the expectations, before the scenario
// is changed.
func (s *Scenario) Detach() {
	s.File, s.Source, s.at = "", nil, nil
	s.Catalogue, s.Locks, s.Expect = nil, nil, nil
	for i := range s.Faults {
		s.Faults[i].Pos = faults.Pos{}
	}
}

// ServerCount is the number of servers of a kind other than Redis.
type ServerCount struct {
	// Facts are those of the kind. Its Lacks have [PowerLoss] where the machines of its servers cannot lose their power in
	// this program.
	server.Facts
	// Count is the number of servers.
	Count int `json:"count" jsonschema:"minimum=1"`
}

// PowerLoss is a crash in mode power, among the kinds of fault that cannot strike some servers.
const PowerLoss = "crash: power"

// MaxServers is the greatest number of servers of one kind in a world.
const MaxServers = 9

// withKnown adds those that come with locksim to the kinds that locks bring along. A kind of a user may have the same
// name, and is meant then.
func withKnown(own []server.Facts) []server.Facts {
	all := slices.Clone(own)
	for _, k := range kinds.Servers() {
		if !slices.ContainsFunc(all, func(f server.Facts) bool { return f.Name == k.Name }) {
			all = append(all, k.Facts)
		}
	}
	return all
}

// Count is the number of servers of a kind other than Redis.
func (w World) Count(kind string) int {
	for _, s := range w.Servers {
		if s.Name == kind {
			return s.Count
		}
	}
	return 0
}

// KindOf is the kind of a server, other than Redis, with that name. ok is false if there is none.
func (w World) KindOf(server string) (kind ServerCount, ok bool) {
	for _, s := range w.Servers {
		if slices.Contains(Numbered(s.Prefix, s.Count), server) {
			return s, true
		}
	}
	return ServerCount{}, false
}

// Names are the names of all servers of the world except the store and the replicas.
func (w World) Names() []string {
	names := Numbered("r", w.Redis)
	for _, s := range w.Servers {
		names = append(names, Numbered(s.Prefix, s.Count)...)
	}
	return names
}

// ReplicaNames are the names of the replicas of r0: r0a, r0b, …
func (w World) ReplicaNames() []string {
	names := make([]string, max(w.Replicas, 0))
	for i := range names {
		names[i] = fmt.Sprintf("r0%c", 'a'+i)
	}
	return names
}

// Granting are those of Names that may grant a lock: none that only watches others, is behind them, or is there for the
// harness. Where a store is under test they are its servers.
func (w World) Granting() []string {
	w.Servers = slices.DeleteFunc(slices.Clone(w.Servers), func(s ServerCount) bool {
		return s.Watches || s.Behind ||
			s.Beside
	})
	return w.Names()
}

// Persistence is what a Redis server keeps after a crash.
type Persistence string

// What a Redis server keeps after a crash.
const (
	// PersistNone keeps nothing.
	PersistNone Persistence = "none"
	// PersistRDB keeps the last snapshot, see [World.Snapshot].
	PersistRDB Persistence = "rdb"
	// PersistEverysec keeps an append-only file that is synced once a second.
	PersistEverysec Persistence = "everysec"
	// PersistAlways keeps an append-only file that is synced before each answer.
	PersistAlways Persistence = "always"
)

// Persistences lists them, the default first. The caller owns the slice.
func Persistences() []Persistence {
	return []Persistence{PersistNone, PersistRDB, PersistEverysec, PersistAlways}
}

// Clients are the names of the clients: c0, c1, …
func (s *Scenario) Clients() []string { return Numbered("c", s.World.Clients) }

// RedisNodes are the names of the Redis servers that exist for every lock of the
// scenario. A lock that needs more than World.Redis has more.
func (s *Scenario) RedisNodes() []string { return checked{s}.redis().names }

// LateLimit is how late a machine may be that plays the scenario on real servers: a tenth of the shortest time after
// which a lease ends, a client gives up, or a replica has a write. A request is late several times until its answer is
// there.
func (s *Scenario) LateLimit() time.Duration {
	shortest := s.Lock.TTL
	if lag := s.World.Lag.Min; lag > 0 {
		shortest = min(shortest, lag)
	}
	for _, k := range keys {
		if v, ok := k.Value.(Length); ok && v.Limit() && *v.Of(s) > 0 {
			shortest = min(shortest, *v.Of(s))
		}
	}
	return shortest / 10
}
