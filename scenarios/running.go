package scenarios

import (
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
	"strings"

	"locksim/scenarios/file"
	"locksim/scenarios/search"
)

// running is the file in which a test keeps the seed of the run that it plays. A
// panic in a goroutine that a lock has started ends the process, and nothing can
// catch it: the next process finds the seed in the file. The file is removed when the
// test ends.
//
// Two processes that run the same test at once share the file. Each may then play the
// other's seed first, or lose its own, which does no other harm.
type running struct {
	file *os.File
	made []string // the folders that were made for it, the innermost first
}

// interrupted is the content of the file.
type interrupted struct {
	Seed uint64 `json:"seed"`
}

// openRunning opens the file of a test in a folder. last is what an earlier process
// has left in it; nil means nothing.
func openRunning(dir, test string) (r *running, last *interrupted, err error) {
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
	if r.file, err = os.OpenFile(filepath.Join(dir, runningName(test)), os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, nil, err
	}
	found := new(interrupted)
	if text, err := io.ReadAll(r.file); err == nil && json.Unmarshal(text, found) == nil {
		return r, found, nil
	}
	return r, nil, nil // it is empty between runs
}

// runningName is hidden, and no name of a stored failure. The digits distinguish tests
// with the same slug.
func runningName(test string) string {
	sum := sha256.Sum256([]byte(test))
	const most = 80 // characters; file systems take 255 bytes
	name := slug(test)
	return ".running-" + name[:min(len(name), most)] + "-" + hex.EncodeToString(sum[:4])
}

// noting yields cases, and writes the seed of each into the file before. A nil
// running only yields them.
//
// A seed that cannot be written is ignored: the test does not depend on it.
func (r *running) noting(cases iter.Seq[search.Case]) iter.Seq[search.Case] {
	if r == nil {
		return cases
	}
	return func(yield func(search.Case) bool) {
		for c := range cases {
			// The text of every seed has the same length, so that it replaces the last one.
			_, _ = r.file.WriteAt(fmt.Appendf(nil, "{\"seed\": %20d}\n", c.Seed), 0)
			if !yield(c) {
				return
			}
		}
	}
}

// rest says that no run is played that the next process has to know.
func (r *running) rest() {
	if r != nil {
		_ = r.file.Truncate(0) // see noting
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

// tryInterrupted plays the run that ended the last process of this test, if one did.
func (c *checkup) tryInterrupted() {
	c.t.Helper()
	r, last, err := openRunning(c.dir, c.name)
	if err != nil {
		c.t.Logf("a run that ends the process will not be known to the next one: %v", err)
		return
	}
	c.running = r
	if last == nil {
		return
	}
	// Not by the test's log, which is lost if the process ends again.
	fmt.Fprintf(os.Stderr, "%s: the last process of this test ended in the run of %s with seed %d, which is played first now\n%s",
		c.name, c.lock.Name, last.Seed, c.interruptedBy(last.Seed))
	c.tryUncounted(search.Trials(c.lock, r.noting(search.Drawn(c.space, search.Seeds{First: last.Seed, Last: last.Seed}))))
	r.rest()
}

// interruptedBy says what may have ended a process in the run of a seed, with its schedule and how to play it again.
func (c *checkup) interruptedBy(seed uint64) string {
	source, err := file.Format(search.Draw(search.Seeded(seed), c.space))
	if err != nil {
		source = []byte(err.Error())
	}
	return fmt.Sprintf("  if it ends again with a panic, that came from a goroutine that the lock has started: nothing can catch it, and its stack names the code\n"+
		"  schedule:\n    %s\n  replay: %s, which plays it first until it passes, or with Options{Seed: %d}\n",
		strings.ReplaceAll(strings.TrimSpace(string(source)), "\n", "\n    "), c.command(), seed)
}
