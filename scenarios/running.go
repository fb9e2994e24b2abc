package scenarios

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/search"
)

// running is the file in which a test notes the run that it plays. A panic in a goroutine that a lock has started ends
// the process, and nothing can catch it: the next process finds the note in the file. The file is removed when the test
// ends. A nil running notes nothing.
//
// Two processes that run the same test at once share the file. Each may then play the
// other's seed first, or lose its own, which does no other harm.
type running struct {
	file   *os.File
	length int      // of the longest note
	made   []string // the folders that were made for it, the innermost first
}

// noted is the content of the file: which run is played.
type noted struct {
	What origin `json:"what"`
	// Seed is that of the run; 0 for those by which the lock is learnt.
	Seed uint64 `json:"seed"`
	// File is the stored failure; "" for other runs.
	File string `json:"file,omitempty"`
}

// origin is where a run comes from.
type origin string

const (
	drawn        origin = "drawn"
	calm         origin = "calm"     // see [search.CalmCases]
	learning     origin = "learning" // see [search.Discover]
	storedBefore origin = "stored"
)

// of is the run in a sentence about a lock.
func (n noted) of(lock string) string {
	switch n.What {
	case learning:
		return "a run without faults by which it got to know " + lock
	case calm:
		return fmt.Sprintf("the run of %s without faults with seed %d", lock, n.Seed)
	case storedBefore:
		return fmt.Sprintf("the run of %s that is stored in %s", lock, n.File)
	}
	return fmt.Sprintf("the run of %s with seed %d", lock, n.Seed)
}

// openRunning opens the file of a test with a lock in a folder. last is what an earlier process
// has left in it; nil means nothing.
func openRunning(dir, test, lock string) (r *running, last *noted, err error) {
	r = new(running)
	for missing := filepath.Clean(dir); ; missing = filepath.Dir(missing) {
		if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		r.made = append(r.made, missing)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	if r.file, err = os.OpenFile(filepath.Join(dir, runningName(test, lock)), os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, nil, err
	}
	found := new(noted)
	if text, err := io.ReadAll(r.file); err == nil && json.Unmarshal(text, found) == nil {
		r.length = len(text)
		return r, found, nil
	}
	return r, nil, nil // it is empty between runs
}

// runningName is hidden, and no name of a stored failure. The digits distinguish tests
// with the same slug, and the locks of a test.
func runningName(test, lock string) string {
	sum := sha256.Sum256([]byte(test + "\n" + lock))
	const most = 80 // characters; file systems take 255 bytes
	name := search.Slug(test)
	return ".running-" + name[:min(len(name), most)] + "-" + hex.EncodeToString(sum[:4])
}

// note writes which run is played next. What cannot be written is ignored: the test does not depend on it.
func (r *running) note(n noted) {
	if r == nil {
		return
	}
	text, _ := json.Marshal(n)                                                    // it cannot fail
	text = append(text, bytes.Repeat([]byte(" "), max(r.length-len(text), 0))...) // in place of a longer one
	r.length = len(text)
	_, _ = r.file.WriteAt(text, 0)
}

// noting yields cases, and notes each before.
func (r *running) noting(what origin, cases iter.Seq[search.Case]) iter.Seq[search.Case] {
	return func(yield func(search.Case) bool) {
		for c := range cases {
			r.note(noted{What: what, Seed: c.Seed})
			if !yield(c) {
				return
			}
		}
	}
}

// close removes the file, and the folders that were made for it unless they have got
// other files.
func (r *running) close() {
	if r == nil {
		return
	}
	_ = r.file.Close() // its content no longer matters
	_ = os.Remove(r.file.Name())
	for _, dir := range r.made {
		_ = os.Remove(dir) // fails if it is not empty
	}
}

// openRunning opens the file of this test, and returns what the last process of the test has left in it; nil for
// nothing.
func (c *checkup) openRunning() *noted {
	c.t.Helper()
	r, last, err := openRunning(c.dir, c.name, c.lock.Name)
	if err != nil {
		c.t.Logf("a run that ends the process will not be known to the next one: %v", err)
		return nil
	}
	c.running = r
	return last
}

// tryInterrupted plays the run that ended the last process of this test, if one did, in a process of its own. If it
// ends that one too, that is the failure.
func (c *checkup) tryInterrupted(last *noted) {
	if last == nil {
		return
	}
	// Not by the test's log, which is lost if the process ends again.
	fmt.Fprintf(os.Stderr, "%s: the last process of this test ended in %s, which is played first now, in a process of "+
		"its own\n", c.name, last.of(c.lock.Name))
	failure, err := c.alone(*last)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
	}
	c.failure = failure
}

// playAgain plays a drawn run that ended the last process of this test, and did not end the process of its own. That
// process may have been killed, or the lock is not deterministic.
func (c *checkup) playAgain(last *noted) {
	if last == nil || c.failure != "" || cmp.Or(last.What, drawn) != drawn {
		return
	}
	var again search.Case
	for again = range search.Drawn(c.lock, c.space, outcome.Seeds{First: last.Seed, Last: last.Seed}) {
		break
	}
	source, err := file.Format(again.Scenario)
	if err != nil {
		source = []byte(err.Error())
	}
	fmt.Fprintf(os.Stderr, "%s: that run is played in this process now; if it ends with a panic, that came from a "+
		"goroutine that the lock has started: nothing can catch it, and its stack names the code\n  schedule:\n    %s\n  "+
		"replay: %s, which plays it first until it passes, or with Options{Seed: %d}\n",
		c.name, strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "\n    "), c.command(), last.Seed)
	c.tryUncounted(search.Trials(c.lock, c.running.noting(drawn, slices.Values([]search.Case{again}))))
}
