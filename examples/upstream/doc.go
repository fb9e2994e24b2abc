// Package upstream shows findings in other people's lock libraries, in plain Go against real servers, without locksim.
//
// Each TestShows… is one finding, in a file of its own. It passes while the version in go.mod has the finding, and
// fails with "mended?" when it no longer has. The drafts of the reports are in docs/upstream.
//
//	go test .
//
// A test whose server is not installed is skipped, or fails with LOCKSIM_REQUIRE_LIVE=1. Each server is a child process
// on a free port of the loopback interface. What a slow network does is done by a proxy inside the test.
package upstream
