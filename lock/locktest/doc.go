// Package locktest is a conformance suite for [lock.Locker]: the promises of that interface, and of the
// abilities that a lock may have besides, as tests that run on anybody's lock.
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
// That is all it takes for a lock whose leases last for a second, of a client machine with connections of
// its own. The [Wire] is optional: with it the suite also loses requests and replies, and cuts clients
// off. What a lock can do beyond Acquire is found by type assertion ([lock.Trier], [lock.Extender],
// [lock.Owned]) or said in the [Harness]; the tests of what it cannot do are skipped.
//
// # In virtual time
//
// The tests use package time and nothing else, so they run unchanged in a bubble of testing/synctest, and
// so in a world of locksim/sim, where every one of them takes milliseconds and timing is exact.
// [Harness.Fresh] opens such a world for each test.
//
// # In real time
//
// On a real server nothing here depends on how fast the machine is. Lower bounds are strict: a lease's
// own Until says when nobody else may be granted, and both are readings of one monotonic clock. Upper
// bounds are generous ([Harness.Slack]). A test that finds that it was too slow itself, say because a
// lease ended before the test had come to use it, draws no conclusion and is tried again.
package locktest
