package locktest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"locksim/lock"
)

// Harness configures the suite: how to create a lock and what it promises.
type Harness struct {
	// World is where all tests run, each with its own resource.
	World

	// Fresh, if it is set, is used instead of World: it opens a world for one test, calls test in it once, and closes
	// it. It fails t if it cannot.
	Fresh func(t testing.TB, test func(World))

	// TTL is how long the leases of the lock last. It must be set. On a real server some hundred milliseconds make the
	// suite fast; with less a busy machine is too slow.
	TTL time.Duration

	// Slack is the tolerance of upper bounds. It covers the network, the machine, and the lock's own delay between two
	// tries. 0 means 10 s, which suits a real server.
	Slack time.Duration

	// Tokens says that every lease has a fencing token. Without it every token must be 0.
	Tokens bool

	// Renews says that a lease is renewed automatically, for as long as its holder reaches the lock's servers.
	Renews bool

	// Connected says that a lease ends with the connection that has it, and so with a message that is lost.
	Connected bool

	// Fair says that waiters are granted in the order of their requests. The test needs a Wire.
	Fair bool

	// Together is how many tests run at once. On a real server they mostly wait. 0 means one, which is required if
	// Fresh cannot open two worlds at once.
	Together int
}

// World is the environment of tests: machines, a network, and servers.
type World struct {
	// New creates the lock of one client. Clients are numbered from 0 and are separate machines: they share only the
	// servers. It is called once for each client of a test, and fails t if it cannot create the lock. It must be set.
	New func(t testing.TB, client int) Client

	// Left, if it is set, lists what the servers still have for a resource, except for permanent data such as a counter
	// of tokens. With it the suite checks that nothing is left.
	Left func(t testing.TB, resource string) []string

	// Forget, if it is set, deletes all that Left lists from the servers, as a failover or an administrator's mistake
	// does.
	Forget func(t testing.TB, resource string)
}

// Client is one client machine.
type Client struct {
	// Locker is its lock.
	Locker lock.Locker

	// Wire is its network, if its connections were dialled through one. Without it, tests that need faults are skipped.
	Wire *Wire
}

const (
	defaultSlack = 10 * time.Second
	clients      = 4 // of a test, at most
	tries        = 5 // of an inconclusive test
)

// Run runs the suite, one subtest for each promise. It fails t at once if the harness is invalid.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if err := h.validate(); err != nil {
		t.Fatal(err)
	}
	turns := make(chan struct{}, max(h.Together, 1))
	var all sync.WaitGroup
	for _, promise := range promises {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			t.Run(promise.name, func(t *testing.T) { h.testPromise(t, promise) })
		})
	}
	all.Wait()
}

func (h Harness) validate() error {
	switch {
	case h.New == nil && h.Fresh == nil:
		return fmt.Errorf("locktest: the harness has neither New nor Fresh: it needs a way to make the lock")
	case h.TTL <= 0:
		return fmt.Errorf("locktest: the harness has no TTL: say how long the lock's leases last")
	case h.Slack < 0 || h.Together < 0:
		return fmt.Errorf("locktest: Slack %v or Together %d is negative", h.Slack, h.Together)
	}
	return nil
}

// testPromise tests one promise, repeatedly while the test is too slow.
func (h Harness) testPromise(t testing.TB, p promise) {
	t.Helper()
	if h.Slack == 0 {
		h.Slack = defaultSlack
	}
	var slow []string
	for try := range tries {
		why := h.try(t, p, fmt.Sprintf("%s:%d", p.name, try))
		if why == "" {
			return
		}
		slow = append(slow, why)
	}
	t.Errorf("no conclusion in %d tries: the lock's leases end too early, or this machine is too slow for a TTL of "+
		"%v:\n%s",
		tries, h.TTL, strings.Join(slow, "\n"))
}

// try tests a promise once. It returns why the test was inconclusive, if it was.
func (h Harness) try(t testing.TB, p promise, resource string) (slow string) {
	t.Helper()
	without := ""
	h.world(t, func(w World) {
		s := newTrial(t, h, w, resource)
		defer s.end()
		defer func() {
			switch r := recover().(type) {
			case nil:
			case tooSlow:
				slow = string(r)
			case skipped:
				without = string(r)
			default:
				panic(r)
			}
		}()
		p.test(s)
	})
	if without != "" {
		t.Skip(without)
	}
	return slow
}

func (h Harness) world(t testing.TB, test func(World)) {
	if h.Fresh != nil {
		h.Fresh(t, test)
		return
	}
	test(h.World)
}

// promise is a promise of a lock, with its test.
type promise struct {
	name string
	test func(*trial)
}

// promises is the suite.
var promises = []promise{
	{"a lease as promised", leaseAsPromised},
	{"one holder at a time among clients", oneHolderAmongClients},
	{"one holder at a time among goroutines of a client", oneHolderAmongGoroutines},
	{"resources are independent", resourcesAreIndependent},

	{"release frees at once", releaseFreesAtOnce},
	{"release wakes a waiter", releaseWakesAWaiter},
	{"release again says the same", releaseAgain},
	{"release many times at once", releaseConcurrently},
	{"release with a dead context", releaseWithDeadContext},
	{"release is no loss", releaseIsNoLoss},
	{"release after the end leaves the successor", releaseLeavesTheSuccessor},
	{"release of what the servers forgot", releaseOfTheForgotten},

	{"expiry frees", expiryFrees},
	{"loss is told", lossIsTold},
	{"validity counts from the sending", validityCountsFromTheSending},

	{"context dead before", contextDeadBefore},
	{"deadline while waiting", deadlineWhileWaiting},
	{"cancelled while waiting", cancelledWhileWaiting},
	{"cancelled in flight", cancelledInFlight},
	{"lease outlives the context", leaseOutlivesTheContext},
	{"waiters leave nothing behind", waitersLeaveNothing},

	{"acquire whose reply is lost", acquireReplyLost},
	{"acquire whose request is lost", acquireRequestLost},
	{"release whose reply is lost", releaseReplyLost},
	{"release whose request is lost", releaseRequestLost},

	{"tokens", tokens},

	{"try", tryOnce},
	{"try leaves nothing behind", tryLeavesNothing},
	{"try whose reply is lost", tryReplyLost},
	{"try whose request is lost", tryRequestLost},

	{"extend moves the end", extendMovesTheEnd},
	{"extend keeps others out", extendKeepsOthersOut},
	{"extend after the end", extendAfterTheEnd},
	{"extend of what the servers forgot", extendOfTheForgotten},
	{"extend whose reply is lost", extendReplyLost},

	{"renewed while held", renewedWhileHeld},

	{"re-entry", reentry},
	{"re-entry by another client", reentryByAnotherClient},
	{"owners exclude each other", ownersExcludeEachOther},
	{"release again of an inner entry", reentryReleaseAgain},
	{"re-entry after expiry", reentryAfterExpiry},

	{"fair", fair},
}
