// Package locktest is a conformance suite for [lock.Locker]: the promises of that interface, and of the further
// abilities of a lock, as tests that run on any lock.
//
//	func TestMyLock(t *testing.T) {
//		server := redisserver.Start(t)
//		locktest.Run(t, locktest.Harness{
//			TTL: time.Second,
//			World: locktest.World{New: func(t testing.TB, client int) locktest.Client {
//				wire := locktest.NewWire(nil)
//				rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), Dialer: wire.Dial})
//				t.Cleanup(func() { rdb.Close() })
//				return locktest.Client{Locker: mylock.New(rdb, time.Second), Wire: wire}
//			}},
//		})
//	}
//
// That is the complete test of a lock whose leases last for a second, on client machines with separate connections. The
// [Wire] is optional: with it the suite also loses requests and replies, and cuts clients off. Abilities beyond Acquire
// are found by type assertion ([lock.Trier], [lock.Extender], [lock.Owned]) or declared in the [Harness]; the tests of
// missing abilities are skipped.
//
// # In virtual time
//
// The tests use only package time, so they run unchanged in a bubble of testing/synctest, and so in a world of
// locksim/sim, where each takes milliseconds and timing is exact. [Harness.Fresh] opens such a world for each test.
//
// # In real time
//
// On a real server no result depends on the speed of the machine. Lower bounds are strict: no other grant is allowed
// before a lease's own Until, and both are readings of one monotonic clock. Upper bounds are generous
// ([Harness.Slack]). A test that was too slow itself, for example because a lease ended before the test could use it,
// is inconclusive and is tried again.
package locktest
