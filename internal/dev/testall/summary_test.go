package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// stream are events of go test -json.
func stream(events ...[4]string) *strings.Reader {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "{\"Action\":%q,\"Package\":%q,\"Test\":%q,\"Output\":%q}\n", e[0], e[1], e[2], e[3])
	}
	return strings.NewReader(b.String())
}

// A package that passes is one line, one that fails has the output of its failed tests,
// and tests that a missing component skipped are counted by reason.
func TestSummary(t *testing.T) {
	var out bytes.Buffer
	s := newSummary(&out)
	skip := func(pkg, test, why string) [][4]string {
		return [][4]string{
			{"output", pkg, test, "=== RUN   " + test + "\n"},
			{"output", pkg, test, "    x_test.go:12: " + why + "\n"},
			{"output", pkg, test, "--- SKIP: " + test + " (0.00s)\n"},
			{"skip", pkg, test, ""},
		}
	}
	var events [][4]string
	events = append(events, [4]string{"output", "a", "TestGood", "output of a test that passes\n"},
		[4]string{"pass", "a", "TestGood", ""})
	events = append(events, skip("a", "TestOne", "redis-server is missing; set LOCKSIM_REQUIRE_LIVE=1 to make this a "+
		"failure")...)
	events = append(events, skip("a", "TestTwo", "redis-server is missing; set LOCKSIM_REQUIRE_LIVE=1 to make this a "+
		"failure")...)
	events = append(events, skip("a", "TestLong", "make soak does it")...)
	events = append(events,
		[4]string{"output", "a", "", "PASS\n"}, [4]string{"output", "a", "", "ok  \ta\t0.1s\n"},
		[4]string{"pass", "a", "", ""},
		[4]string{"output", "b", "TestBad", "=== RUN   TestBad\n"},
		[4]string{"output", "b", "TestBad", "    b_test.go:3: wrong\n"},
		[4]string{"output", "b", "TestBad", "--- FAIL: TestBad (0.00s)\n"}, [4]string{"fail", "b", "TestBad", ""},
		[4]string{"output", "b", "", "FAIL\tb\t0.1s\n"}, [4]string{"fail", "b", "", ""},
		[4]string{"build-output", "c", "", "c.go:1: syntax error\n"})
	if err := s.read(stream(events...)); err != nil {
		t.Fatal(err)
	}
	s.print()
	want := "ok  \ta\t0.1s\n    b_test.go:3: wrong\n--- FAIL: TestBad (0.00s)\nFAIL\tb\t0.1s\nc.go:1: syntax error\n" +
		"skipped: 2 tests: redis-server is missing\nskipped: 1 test that other commands run, such as make soak\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// Output of go test that is not an event is an error.
func TestSummaryRefusesWhatIsNoEvent(t *testing.T) {
	if err := newSummary(&bytes.Buffer{}).read(strings.NewReader("flag provided but not defined\n")); err == nil {
		t.Error("it was read as events")
	}
}

// Modules are chosen by their folders, named or left out. A folder that has none is an error, and so is a choice of
// none.
func TestChosen(t *testing.T) {
	all := []string{".", "examples/a", "internal/dev"}
	for _, c := range []struct {
		flags []string
		want  string // the modules and the other flags; "" where it is an error
	}{
		{nil, ". examples/a internal/dev;"},
		{[]string{"-vet=off"}, ". examples/a internal/dev; -vet=off"},
		{[]string{"-without", "./examples/a/", "-vet=off"}, ". internal/dev; -vet=off"},
		{[]string{"-without", ". internal/dev"}, "examples/a;"},
		{[]string{"-only", ". ./examples/a/", "-vet=off"}, ". examples/a; -vet=off"},
		{[]string{"-without", "examples/b"}, ""},
		{[]string{"-only", ". examples/b"}, ""},
		{[]string{"-only", ""}, ""},
		{[]string{"-without", ". examples/a internal/dev"}, ""},
		{[]string{"-only"}, ""},
	} {
		modules, rest, err := chosen(slices.Clone(all), c.flags)
		got := strings.Join(append([]string{strings.Join(modules, " ") + ";"}, rest...), " ")
		if err == nil && got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q: %q, %v", c.flags, got, err)
		}
	}
}
