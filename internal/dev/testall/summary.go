package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"locksim/internal/dev/gotest"
	"locksim/internal/prose"
)

// summary reads the events of tests, and prints what go test would print. Several
// goroutines may use it: the output of a package is printed as a whole.
type summary struct {
	mu      sync.Mutex
	w       io.Writer
	output  map[string][]string // the output of each test that has not ended, by package and test
	missing map[string]int      // the number of tests that a missing component skipped, by reason
	skipped int                 // the number of tests that were skipped for other reasons
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, output: map[string][]string{}, missing: map[string]int{}}
}

// begin prints the folder of a module whose tests begin.
func (s *summary) begin(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write("== " + dir + "\n")
}

// read reads the events of one go test, up to the first output that is none.
func (s *summary) read(r io.Reader) error {
	for e, err := range gotest.Events(r) {
		if err != nil {
			return err
		}
		s.see(e)
	}
	return nil
}

// see handles one event. go test without -v prints the last line of a package that
// passes, and of one that fails everything but the tests that pass.
func (s *summary) see(e gotest.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "build-output":
		s.write(e.Output)
	case "output":
		if !strings.HasPrefix(e.Output, "=== ") && e.Output != "PASS\n" {
			s.output[key] = append(s.output[key], e.Output)
		}
	case "fail":
		s.write(strings.Join(s.output[key], ""))
		delete(s.output, key)
	case "pass", "skip":
		lines := s.output[key]
		delete(s.output, key)
		switch {
		case e.Test == "" && len(lines) > 0:
			s.write(lines[len(lines)-1])
		case e.Test != "" && e.Action == "skip":
			s.skip(strings.Join(lines, ""))
		}
	}
}

// write prints a text. The mutex is held.
func (s *summary) write(text string) { _, _ = io.WriteString(s.w, text) }

// reason matches the message of a test whose component is missing. The reason is between
// the position of its Skip and the variable that makes such a test fail.
var reason = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*); set LOCKSIM_REQUIRE_LIVE=1 `)

func (s *summary) skip(output string) {
	if m := reason.FindStringSubmatch(output); m != nil {
		s.missing[m[1]]++
		return
	}
	s.skipped++
}

// print prints a line for each component that is missing.
func (s *summary) print() {
	for _, why := range slices.Sorted(maps.Keys(s.missing)) {
		_, _ = fmt.Fprintf(s.w, "skipped: %s: %s\n", prose.Count(s.missing[why], "test"), why)
	}
	if s.skipped > 0 {
		_, _ = fmt.Fprintf(s.w, "skipped: %s that other commands run, such as make soak\n", prose.Count(s.skipped, "test"))
	}
}
