// Package redisserver starts real Redis servers for tests: one process each, on a free port of the
// loopback interface, without persistence, stopped when the test ends.
//
//	func TestOnRedis(t *testing.T) {
//		server := redisserver.Start(t)
//		client := redis.NewClient(&redis.Options{Addr: server.Addr()})
//		...
//	}
//
// Where no redis-server is installed, the test is skipped and says how to get one. With the environment
// variable LOCKSIM_REQUIRE_LIVE=1 it fails instead, so that a build machine that has lost its server does
// not pass by skipping.
package redisserver
