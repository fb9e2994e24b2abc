package scenarios

import (
	goredis "github.com/redis/go-redis/v9"

	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/spaces"
)

// A lock under test, and what it is given. Package play explains each.
type (
	// Lock is the lock under test.
	Lock = play.Lock
	// Env is the part of the world that a lock can use.
	Env = play.Env
	// Section is what the user of a lock does under it, by the steps of a Holder.
	Section = play.Section
	// Holder is a client in its section.
	Holder = play.Holder
	// Servers says which servers a lock needs.
	Servers = play.Servers
	// ServerCount is a number of servers of one kind.
	ServerCount = file.ServerCount
	// ServerKind is a kind of server that a lock can bring along.
	ServerKind = play.ServerKind
	// RealServer is how live runs start a real server of a kind that a lock brings along.
	RealServer = play.RealServer
	// LeaseForm says how the end of a lease is known.
	LeaseForm = play.LeaseForm
	// Space is what schedules are drawn from.
	Space = spaces.Space
)

// How the end of a lease is known: see [play.LeaseForm].
const (
	LeaseUntil   = play.LeaseUntil
	LeaseCounted = play.LeaseCounted
	LeaseHeld    = play.LeaseHeld
)

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
const Primary = play.Primary

// Redis is the given number of Redis servers: r0, r1, …
func Redis(count int) []Servers { return play.Redis(count) }

// Kind is one of the locks that come with locksim. The error lists the kinds.
func Kind(name string) (Lock, error) { return play.Kind(name) }

// RedisClient makes a go-redis client of a server ("r0") with the profile of the scenario:
// see [play.RedisClient].
func RedisClient(e Env, server string) *goredis.Client { return play.RedisClient(e, server) }

// Parse reads a scenario from the content of the file of that name: see
// [file.Parse]. The scenario may name the servers that these locks bring along.
// Every error is a [*file.InputError] with the position.
func Parse(name string, data []byte, locks ...Lock) (*Scenario, error) {
	return file.Parse(name, data, play.ServerNames(locks...)...)
}

// Load reads a scenario from the library, by its name, or from a file: see
// [file.Load], whose errors it returns. The scenario may name the servers that
// these locks bring along.
func Load(nameOrPath string, locks ...Lock) (*Scenario, error) {
	return file.Load(nameOrPath, play.ServerNames(locks...)...)
}

// Run plays a scenario with a lock under each fencing mode: see [play.Run], whose
// errors it returns. A broken lock is not an error: it is a verdict.
func Run(sc *Scenario, l Lock, opts RunOptions) (*Outcome, error) {
	return play.Run(sc, l, opts)
}
