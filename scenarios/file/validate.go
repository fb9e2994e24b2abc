package file

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/kinds"
)

// Validate returns a *faults.FieldError for the first invalid field, or nil. The
// error's field is a path as Pos takes it. Parse has called it for every scenario
// that comes from a file; call it for one built in Go.
//
// It does not know which locks exist: the runner checks that.
func (s *Scenario) Validate() error {
	c := checked{s}
	for _, check := range []func() error{
		c.validateTexts, c.validateCatalogue, c.validateWorld, c.validateLock, c.validateWorkload, c.validateFaults,
		c.validateLocks, c.validateExpect,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checked is a scenario while it is validated.
type checked struct{ *Scenario }

var scenarioName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

func (s checked) validateTexts() error {
	if !scenarioName.MatchString(s.Name) {
		return wrong("name", "%q cannot be a name: use up to 64 of a-z, 0-9 and -", s.Name)
	}
	if strings.ContainsFunc(s.Title, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return wrong("title", "a title is one line of visible characters: put the rest into why")
	}
	if strings.ContainsFunc(s.Why, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		return wrong("why", "the text has invisible characters: remove them")
	}
	return nil
}

var catalogueID = regexp.MustCompile(`^F[0-9]{2}$`)

func (s checked) validateCatalogue() error {
	for i, id := range s.Catalogue {
		if !catalogueID.MatchString(id) {
			return wrong(fmt.Sprintf("catalogue[%d]", i), "%q is no entry of the catalogue: write F01, F02, …", id)
		}
	}
	return nil
}

func (s checked) validateWorld() error {
	return first(s.validateServers(), s.checkKeys("world"), s.validateLatency(), s.validateClockStep(),
		s.validateNodeTimeout())
}

// validateNodeTimeout checks the node timeout of a Redis Cluster, of which 0 is the default.
func (s checked) validateNodeTimeout() error {
	cluster := slices.ContainsFunc(s.World.Servers, func(c ServerCount) bool { return c.Cluster })
	if t := s.World.NodeTimeout; cluster && t != 0 && t < leastNodeTimeout {
		return wrong("world.node_timeout", "%v is too short: the nodes look every %v, so give that at least", t,
			leastNodeTimeout)
	}
	return nil
}

// leastNodeTimeout is how often the nodes of a Redis Cluster look after each other.
const leastNodeTimeout = 100 * time.Millisecond

// validateServers checks the numbers of servers. A world with servers of another
// kind needs no Redis server.
func (s checked) validateServers() error {
	for _, c := range s.World.Servers {
		if err := counted("world."+c.Name, c.Count, MaxServers); err != nil {
			return err
		}
		if c.Shards > 0 && c.Count%c.Shards != 0 {
			return wrong("world."+c.Name, "%d nodes are not as many of each shard: there are %d shards, so give %d, %d or %d",
				c.Count, c.Shards, c.Shards, 2*c.Shards, 3*c.Shards)
		}
	}
	if s.World.Redis == 0 && len(s.World.Servers) > 0 {
		return nil
	}
	return counted("world.redis", s.World.Redis, MaxRedis)
}

func (s checked) validateLock() error {
	if !IsWord(s.Lock.Kind) {
		return wrong("lock.kind", "%q cannot be a kind of lock: write a word such as fenced", s.Lock.Kind)
	}
	if s.Store != "" && !IsWord(s.Store) {
		return wrong("store", "%q cannot be the name of a fence: write a word such as my-fence", s.Store)
	}
	if s.Store != "" && s.Workload.Fills() {
		return wrong("store", "a fence is tried by sections that read and write, and workload.kind is %s: make that %s, or "+
			"leave store out", s.Workload.Kind, WorkloadRegister)
	}
	if s.Store == "" && s.Workload.TriesFence() {
		return wrong("workload.kind", "%s tries a fence, and the scenario names none: name one by store, or leave kind out",
			s.Workload.Kind)
	}
	return first(s.checkKeys("lock"), s.validateSettings())
}

func (s checked) validateLatency() error {
	if most := s.World.Latency.Max; most > MaxLatency {
		return wrong("world.latency", "%v is too long: a message takes up to %v, or delay the messages that matter by "+
			"a fault", most, MaxLatency)
	}
	return nil
}

// validateClockStep refuses steps with which a right lock may be late: a timer for the end of its lease, which it sets
// by a reading, fires up to a step after that end, and by then no other client must have got the lock by a request and
// an answer.
func (s checked) validateClockStep() error {
	if step, least := s.World.ClockStep, s.World.Latency.Min; step > least {
		return wrong("world.clock_step", "%v is longer than the shortest message, which takes %v, and no lock can tell in "+
			"time by such a clock: make it shorter, or world.latency longer", step, least)
	}
	return nil
}

// validateTries refuses a hold during which a client that polls the lock would ask too often.
func (s checked) validateTries() error {
	if _, ok := kinds.RedisOf(s.Lock.Kind); !ok || s.Lock.Wait == WaitNotify || s.World.Clients < 2 ||
		s.Lock.Backoff.Max <= 0 {
		return nil
	}
	held := min(s.Workload.Hold, s.Lock.TTL) // at least
	if tries := int64(held / s.Lock.Backoff.Max); tries > MaxTries {
		return wrong("workload.hold", "while one client holds the lock for %v, each other one tries %d times, once in %v: "+
			"more than a run can play. Make hold or ttl shorter, or lock.backoff longer", held, tries, s.Lock.Backoff.Max)
	}
	return nil
}

func (s checked) validateWorkload() error {
	w := s.Workload
	if w.ChecksUntil == "" {
		return wrong("workload.checks_until", "the word is empty: write never, lost or steps")
	}
	if err := s.validateSection(); err != nil {
		return err
	}
	if err := s.validateKind(); err != nil {
		return err
	}
	if units, take := w.Units(); w.Sells() && take > units {
		return wrong("workload.take", "a section takes %d, and there are %d: no section could ever take some; make take "+
			"smaller, or stock larger", take, units)
	}
	if w.Beside && len(w.Resources) < 2 {
		return wrong("workload.beside", "there is one lock: give two names or more in workload.resources, or leave "+
			"beside out")
	}
	if w.Deadline && w.Request == 0 && w.AcquireWithin == 0 && w.ExtendWithin == 0 && w.ReleaseWithin == 0 {
		return wrong("workload.deadline", "a context without an end has no deadline: give request, acquire_within, "+
			"extend_within or release_within too")
	}
	return first(s.checkKeys("workload"), s.validateTries())
}

// validateResources checks the names of the resources. A name may have any character
// that a text can have, since locks have to stand all names.
func validateResources(names []string) error {
	if len(names) == 0 || len(names) > MaxResource {
		return wrong("workload.resources", "there are %d names: give 1 to %d", len(names), MaxResource)
	}
	for i, name := range names {
		path := fmt.Sprintf("workload.resources[%d]", i)
		switch {
		case name == "" || len(name) > 200 || !utf8.ValidString(name):
			return wrong(path, "%q cannot be a resource: give a text of 1 to 200 bytes", name)
		case slices.Contains(names[:i], name):
			return wrong(path, "%q is there twice: each resource has a name of its own", name)
		}
	}
	return nil
}

// validateLocks checks the form of the names. The runner checks whether the locks
// exist.
func (s checked) validateLocks() error {
	for i, name := range s.Locks {
		if !IsWord(name) {
			return wrong(fmt.Sprintf("locks[%d]", i), "%q cannot be a lock: write a kind such as fenced, or a group: %s", name,
				strings.Join(kinds.Groups(), ", "))
		}
	}
	return nil
}

// validateExpect reports the first invalid expectation in the order of the names,
// so that the same scenario always has the same error.
func (s checked) validateExpect() error {
	wrong := false
	for kind, labels := range s.Expect {
		wrong = wrong || validateKind(kind) != nil
		for mode, label := range labels {
			wrong = wrong || validateLabel(kind, mode, label) != nil
		}
	}
	if !wrong {
		return nil
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Expect)) {
		err := validateKind(kind)
		for _, mode := range slices.Sorted(maps.Keys(s.Expect[kind])) {
			err = first(err, validateLabel(kind, mode, s.Expect[kind][mode]))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func validateKind(kind string) error {
	if !IsWord(kind) {
		return wrong("expect."+kind, "%q cannot be a kind of lock: write a word such as fenced", kind)
	}
	return nil
}

func validateLabel(kind string, mode fence.Mode, label checker.Label) error {
	if _, err := fence.ParseMode(string(mode)); err != nil {
		return wrong("expect."+kind+"."+string(mode), "there is no fencing mode %q: %s", string(mode),
			prose.Choose(string(mode), words(fence.Modes())))
	}
	if _, err := checker.ParseLabel(string(label)); err != nil {
		return wrong("expect."+kind+"."+string(mode), "there is no label %q: %s", string(label),
			prose.Choose(string(label), words(checker.Labels())))
	}
	return nil
}

// counted checks a number, which must be 1 at least.
func counted(path string, n, most int) error {
	if n < 1 || n > most {
		return wrong(path, "%d is out of range: give a number from 1 to %d", n, most)
	}
	return nil
}

// inLimits checks a length of time.
func inLimits(path string, d, least time.Duration) error {
	if d < least || d > MaxDuration {
		return wrong(path, "%v is out of range: give a time from %v to %gh", d, least, MaxDuration.Hours())
	}
	return nil
}

// ordered checks a span of time.
func ordered(path string, r Range, least time.Duration) error {
	if r.Min > r.Max {
		return wrong(path, "%v is more than %v: write the shorter time first", r.Min, r.Max)
	}
	return first(inLimits(path, r.Min, least), inLimits(path, r.Max, least))
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func wrong(path, format string, args ...any) error {
	return &faults.FieldError{Field: path, Problem: fmt.Sprintf(format, args...)}
}

// IsWord reports whether a name can be written in a scenario file as one word.
func IsWord(name string) bool { return name != "" && !strings.ContainsFunc(name, notInWord) }

func notInWord(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }

func words[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}
