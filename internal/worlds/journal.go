package worlds

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
)

// run is one live run, as the journal has it.
type run struct {
	Scenario, Lock string
	Source         string // the digest of the scenario's file
	Scale          float64
	Seed           uint64
	// Labels are the labels by mode, Reasons the first reason of each.
	Labels  map[fence.Mode]checker.Label
	Reasons map[fence.Mode]string
	// NotPlayed are the faults that the live world lacks, each once.
	NotPlayed []string
	Problem   string
	// Late is by how much the machine was late at most.
	Late time.Duration
}

// journal has the live runs that were made, as lines of JSON.
type journal struct {
	mu   sync.Mutex
	made []run
	out  *os.File // nil without a file
}

func openJournal(name string) (*journal, error) {
	j := new(journal)
	if name == "" {
		return j, nil
	}
	before, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(before) {
		var r run
		if json.Unmarshal(line, &r) == nil { // else the program was interrupted in the middle of a line
			j.made = append(j.made, r)
		}
	}
	if j.out, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		_, err = j.out.WriteString("\n") // what follows is a line of its own
	}
	return j, err
}

// find is the run of a pair with a seed that was made, in all modes and without a problem.
func (j *journal) find(p *pair, seed uint64) (run, bool) {
	for _, r := range j.made {
		if r.Source == p.digest() && r.Lock == p.lock.Name && r.Scale == p.scale && r.Seed == seed && r.Problem == "" && (r.has(p.modes) || len(r.NotPlayed) > 0) {
			return r, true
		}
	}
	return run{}, false
}

// has says that a run was made in each of some modes.
func (r run) has(modes []fence.Mode) bool {
	for _, m := range modes {
		if _, ok := r.Labels[m]; !ok {
			return false
		}
	}
	return true
}

func (j *journal) add(r run) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.out == nil {
		return nil
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = j.out.Write(append(b, '\n'))
	return err
}

func (j *journal) close() {
	if j.out != nil {
		_ = j.out.Close()
	}
}
