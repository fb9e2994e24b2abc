package scenarios

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// A lock under test, and what it is given. Package subject explains each.
type (
	// Lock is the lock under test.
	Lock = subject.Lock
	// Traits are what a lock says of itself.
	Traits = subject.Traits
	// Setting is a number that users of a lock choose.
	Setting = subject.Setting
	// Bound is what a setting has to be less than.
	Bound = subject.Bound
	// Env is the part of the world that a lock can use.
	Env = subject.Env
	// Section is what the user of a lock does under it, by the steps of a Holder.
	Section = subject.Section
	// Holder is a client in its section.
	Holder = subject.Holder
	// Servers says which servers a lock needs.
	Servers = subject.Servers
	// ServerCount is a number of servers of one kind.
	ServerCount = file.ServerCount
	// ServerKind is a kind of server that a lock can bring along.
	ServerKind = subject.ServerKind
	// ServerFacts are what a scenario file knows of such a kind.
	ServerFacts = server.Facts
	// RealServer is how live runs start a real server of a kind that a lock brings along.
	RealServer = subject.RealServer
	// LeaseForm says how the end of a lease is known.
	LeaseForm = subject.LeaseForm
	// Space is what schedules are drawn from.
	Space = spaces.Space
	// SettingRange is a setting of a lock that a search draws.
	SettingRange = spaces.SettingRange
)

// How the end of a lease is known: see [subject.LeaseForm].
const (
	LeaseUntil   = subject.LeaseUntil
	LeaseCounted = subject.LeaseCounted
	LeaseHeld    = subject.LeaseHeld
)

// What most adapters need: with it the glue of a plain lock is a dozen lines. Package subject explains each.
type (
	// LockerFunc is a function that acquires, as a lock.Locker.
	LockerFunc = subject.LockerFunc
	// Grant is what a lock knows of one grant, for [NewLease].
	Grant = subject.Grant
	// Term is the term of one candidate of an election that calls back.
	Term = subject.Term
)

// NewTerm makes a term that has not begun.
func NewTerm() *Term { return subject.NewTerm() }

// NewLease makes the lease of a grant to the client with the environment e: see [subject.NewLease].
func NewLease(ctx context.Context, e Env, g Grant) lock.Lease { return subject.NewLease(ctx, e, g) }

// Within acquires a lock whose lease lives in a context: see [subject.Within].
func Within(ctx context.Context, e Env, acquire func(ctx context.Context) (held context.Context, release func(),
	err error)) (lock.Lease, error) {
	return subject.Within(ctx, e, acquire)
}

// Always is the default of a setting that does not depend on the TTL: see [subject.Always].
func Always(d time.Duration) func(time.Duration) time.Duration { return subject.Always(d) }

// Retry calls try until it returns true or an error, with a pause between two calls: see [subject.Retry].
func Retry(ctx context.Context, clock lock.Clock, pause time.Duration,
	try func(ctx context.Context) (bool, error)) error {
	return subject.Retry(ctx, clock, pause, try)
}

// Unanswered marks the error of a request that may have been carried out: see [subject.Unanswered].
func Unanswered(err error, certain ...error) error { return subject.Unanswered(err, certain...) }

// NotHeld marks the error of a release by which a lock says that the lease had ended before: see [subject.NotHeld].
func NotHeld(err error, lost ...error) error { return subject.NotHeld(err, lost...) }

// Sorted is an error with the lines of its text in order: see [subject.Sorted].
func Sorted(err error) error { return subject.Sorted(err) }

// One scenario, played. Package play explains each.
type (
	// Scenario says who takes part, what they do and what goes wrong.
	Scenario = file.Scenario
	// RunOptions are the seed, the fencing modes and the limits of a run.
	RunOptions = play.RunOptions
	// Outcome is the result of a scenario in each fencing mode.
	Outcome = outcome.Outcome
	// ModeRun is the run in one fencing mode.
	ModeRun = outcome.ModeRun
)

// Twice is the [RunOptions.Repeat] with which each run is made twice and compared.
const Twice = outcome.Twice

// Primary is the name that leads to the first Redis server, or to the replica that
// a failover has promoted.
const Primary = subject.Primary

// Redis is the given number of Redis servers: r0, r1, …
func Redis(count int) []Servers { return subject.Redis(count) }

// Kind is one of the locks that come with locksim. The error lists the kinds.
func Kind(name string) (Lock, error) { return redislocks.Kind(name) }

// RedisClient makes a go-redis client of a server ("r0") with the profile of the scenario:
// see [subject.RedisClient].
func RedisClient(e Env, server string) *goredis.Client { return subject.RedisClient(e, server) }

// Parse reads a scenario from the content of the file of that name: see
// [file.Parse]. The scenario may name the servers that these locks bring along.
// Every error is a [*file.InputError] with the position.
func Parse(name string, data []byte, locks ...Lock) (*Scenario, error) {
	return file.Parse(name, data, subject.ServerNames(locks...)...)
}

// Load reads a scenario from the library, by its name, or from a file: see
// [file.Load], whose errors it returns. The scenario may name the servers that
// these locks bring along.
func Load(nameOrPath string, locks ...Lock) (*Scenario, error) {
	return file.Load(nameOrPath, subject.ServerNames(locks...)...)
}

// Run plays a scenario with a lock under each fencing mode: see [play.Run], whose
// errors it returns. A broken lock is not an error: it is a verdict.
func Run(sc *Scenario, l Lock, opts RunOptions) (*Outcome, error) {
	return play.Run(sc, l, opts)
}
