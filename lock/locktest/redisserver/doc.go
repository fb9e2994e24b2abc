// Package redisserver starts real Redis servers for tests: one process each, on a free port of the
// loopback interface, without persistence, stopped when the test ends.
//
//	func TestOnRedis(t *testing.T) {
//		server := redisserver.Start(t)
//		client := redis.NewClient(&redis.Options{Addr: server.Addr()})
//		...
//	}
//
// Without redis-server the test is skipped, with a message on its installation. With the environment variable
// LOCKSIM_REQUIRE_LIVE=1 it fails instead, so that it does not pass unnoticed on a build machine without the server.
package redisserver
