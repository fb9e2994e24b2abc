package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Version is the version of the journals and documents that this package reads.
const Version = 1

// Record is what is known of a campaign: its plan, and the results of the jobs
// that are finished.
type Record struct {
	// Name is the file that it was read from.
	Name string
	// Kind says what sort of work it is, such as "explore".
	Kind string
	// Plan is the plan as JSON.
	Plan json.RawMessage
	// Results are those of the finished jobs, as JSON, by number.
	Results map[int]json.RawMessage

	end int64 // of a journal: behind its last whole line
}

// header is how a journal and a document begin.
type header struct {
	Version *int              `json:"version"`
	Kind    string            `json:"kind"`
	Plan    json.RawMessage   `json:"plan"`
	Blocks  []json.RawMessage `json:"blocks"`
}

// line is a result in a journal.
type line struct {
	Job    *int            `json:"job"`
	Result json.RawMessage `json:"result"`
}

// ErrEmpty is wrapped by the error of [Read] for a journal that was cut off
// before it had begun.
var ErrEmpty = errors.New("there are no results in it")

// Read reads a journal, or a document: one JSON object with version, kind and
// plan, whose blocks are the results, each with its job's number in the field
// job. A journal may be cut off: what follows its last whole line is ignored.
func Read(name string, data []byte) (*Record, error) {
	first, rest, whole := bytes.Cut(data, []byte("\n"))
	var h header
	err := json.Unmarshal(first, &h)
	switch {
	case !whole && (err != nil || h.Blocks == nil):
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	case err == nil && h.Blocks == nil:
		return readJournal(name, h, int64(len(first)+1), rest)
	}
	h = header{}
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("%s is neither a journal nor a document of results: %w", name, err)
	}
	return readDocument(name, h)
}

func newRecord(name string, h header) (*Record, error) {
	if h.Version == nil || *h.Version != Version || h.Kind == "" || len(h.Plan) == 0 {
		return nil, fmt.Errorf("%s has no results of version %d: give a file that explore, sweep or merge of this version of locksim wrote", name, Version)
	}
	return &Record{Name: name, Kind: h.Kind, Plan: h.Plan, Results: map[int]json.RawMessage{}}, nil
}

func readDocument(name string, h header) (*Record, error) {
	r, err := newRecord(name, h)
	if err != nil {
		return nil, err
	}
	for i, block := range h.Blocks {
		var l line
		if err := json.Unmarshal(block, &l); err != nil || l.Job == nil {
			return nil, fmt.Errorf("%s: blocks.%d has no job number", name, i)
		}
		if err := r.add(*l.Job, block); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// readJournal reads the lines behind the first one, which ends at an offset.
func readJournal(name string, h header, offset int64, rest []byte) (*Record, error) {
	r, err := newRecord(name, h)
	if err != nil {
		return nil, err
	}
	r.end = offset
	for n := 2; ; n++ {
		text, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return r, nil
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil || l.Job == nil || len(l.Result) == 0 {
			if len(after) == 0 {
				return r, nil // what a machine leaves that lost its power
			}
			return nil, fmt.Errorf("%s:%d: this line is no result: delete it, and its job is done again", name, n)
		}
		if err := r.add(*l.Job, l.Result); err != nil {
			return nil, err
		}
		rest, r.end = after, r.end+int64(len(text)+1)
	}
}

// add adds a result. One that is there already must be the same.
func (r *Record) add(job int, result json.RawMessage) error {
	if job < 0 {
		return fmt.Errorf("%s: there is no job %d", r.Name, job)
	}
	if before, ok := r.Results[job]; ok && !reflect.DeepEqual(value(before), value(result)) {
		return &ContradictionError{Job: job, First: r.Name, Second: r.Name}
	}
	r.Results[job] = result
	return nil
}
