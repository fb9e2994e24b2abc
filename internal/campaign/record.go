package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"locksim/internal/journal"
)

// Version is the version of the journals and documents that this package reads.
const Version = 1

// Record has the results of a campaign.
type Record struct {
	// Name is the file that it was read from, or "".
	Name string
	// Kind, Plan and Asked are those of the [Campaign]. Jobs is the number of its jobs,
	// or 0 where that is not known.
	Kind  string
	Plan  json.RawMessage
	Asked string
	Jobs  int
	// Results are the results of the finished jobs, by number, as JSON. Failed are the
	// errors of failed jobs.
	Results map[int]json.RawMessage
	Failed  map[int]error
	// Answers are the answers of the jobs that followed from results, by the key of the
	// job; see [Task.Answer]. FailedAnswers are the errors of such jobs.
	Answers       map[string]json.RawMessage
	FailedAnswers []error

	// All is the number of jobs that this process knew. Made counts the units of the
	// numbered jobs that this process has executed, and Took has the time of each.
	All, Made int
	Took      map[int]time.Duration

	end int64 // of a journal: the offset after its last whole line
}

func newRecord() *Record {
	return &Record{Results: map[int]json.RawMessage{}, Failed: map[int]error{}, Answers: map[string]json.RawMessage{},
		Took: map[int]time.Duration{}}
}

// Done is the number of jobs with a result or an answer.
func (r *Record) Done() int { return len(r.Results) + len(r.Answers) }

// part is the record of n jobs starting at first, with numbers from 0.
func (r *Record) part(first, n int) *Record {
	p := *r
	p.Jobs, p.Results, p.Failed, p.Took = n, shifted(r.Results, first, n), shifted(r.Failed, first, n),
		shifted(r.Took, first, n)
	return &p
}

// shifted are the values of n keys starting at first, with keys from 0.
func shifted[V any](all map[int]V, first, n int) map[int]V {
	out := map[int]V{}
	for i, v := range all {
		if i >= first && i < first+n {
			out[i-first] = v
		}
	}
	return out
}

// prefix is the beginning of an error about the record.
func (r *Record) prefix() string {
	if r.Name == "" {
		return ""
	}
	return r.Name + ": "
}

// header has the first fields of a document, and is the first line of a journal.
type header struct {
	Version int             `json:"version"`
	Kind    string          `json:"kind"`
	Jobs    int             `json:"jobs,omitempty"`
	Asked   string          `json:"asked,omitempty"`
	Plan    json.RawMessage `json:"plan"`
	// Blocks are the results in a document, nil in a journal.
	Blocks []json.RawMessage `json:"blocks,omitempty"`
}

// line is a line of a journal: the number of a job and its result or error, or the
// key of a job that followed from results and its answer.
type line struct {
	Job    *int            `json:"job,omitempty"`
	Follow string          `json:"follow,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Failed string          `json:"failed,omitempty"`
}

// ErrEmpty is wrapped by the error of [Read] for a journal without a whole first line.
var ErrEmpty = errors.New("there are no results in it")

// Read reads a journal, or a document: one JSON object with version, kind and
// plan, whose blocks are the results, each with its job's number in the field
// job. A journal may be truncated: the text after its last whole line is ignored.
func Read(name string, data []byte) (*Record, error) {
	first, _, whole := bytes.Cut(data, []byte("\n"))
	var h header
	err := json.Unmarshal(first, &h)
	switch {
	case !whole && (err != nil || h.Blocks == nil):
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	case err == nil && h.Blocks == nil:
		return readJournal(name, h, data)
	}
	h = header{}
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("%s is neither a journal nor a document of results: %w: give the folder in which a shard "+
			"has stored its results, or what it printed with --json", name, err)
	}
	return readDocument(name, h)
}

func noResults(name string) error {
	return fmt.Errorf("%s has no results of version %d: give the results of a campaign of this version of locksim", name,
		Version)
}

// record is a record with the fields of a header, and no results.
func (h header) record(name string) (*Record, error) {
	if h.Version != Version || h.Kind == "" || len(h.Plan) == 0 || h.Jobs < 0 {
		return nil, noResults(name)
	}
	r := newRecord()
	r.Name, r.Kind, r.Plan, r.Asked, r.Jobs = name, h.Kind, h.Plan, h.Asked, h.Jobs
	return r, nil
}

func readDocument(name string, h header) (*Record, error) {
	r, err := h.record(name)
	if err == nil && h.Blocks == nil {
		err = fmt.Errorf("%s has no results of single jobs: give the journals of the shards", name)
	}
	if err != nil {
		return nil, err
	}
	for i, block := range h.Blocks {
		var b struct {
			Job *int `json:"job"`
		}
		if err := json.Unmarshal(block, &b); err != nil || b.Job == nil {
			return nil, fmt.Errorf("%s: blocks.%d has no job number", name, i)
		}
		if err := r.add(line{Job: b.Job, Result: block}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// readJournal reads a journal whose first line is a header.
func readJournal(name string, h header, text []byte) (*Record, error) {
	r, err := h.record(name)
	if err == nil && h.Jobs == 0 {
		err = noResults(name)
	}
	if err != nil {
		return nil, err
	}
	r.end, err = journal.Read(name, text, func(number int, text []byte) error {
		if number == 1 {
			return nil
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil || !l.valid() {
			return journal.ErrNoResult
		}
		return r.add(l)
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// valid reports whether a line has either a number or a key, and either a result or an
// error.
func (l line) valid() bool {
	return (l.Job != nil) != (l.Follow != "") && (len(l.Result) > 0) != (l.Failed != "")
}

// add adds a line to the record. If the job has a result already, it must be the same.
func (r *Record) add(l line) error {
	switch {
	case l.Job == nil:
		if differ(r.Answers[l.Follow], l.Result) {
			return &ContradictionError{About: "what follows from the results", First: r.Name, Second: r.Name}
		}
		r.Answers[l.Follow] = l.Result
		return nil
	case *l.Job < 0:
		return fmt.Errorf("%sthere is no job %d", r.prefix(), *l.Job)
	case l.Failed != "":
		if r.Results[*l.Job] == nil {
			r.Failed[*l.Job] = errors.New(l.Failed)
		}
		return nil
	case differ(r.Results[*l.Job], l.Result):
		return &ContradictionError{About: fmt.Sprintf("job %d", *l.Job), First: r.Name, Second: r.Name}
	}
	r.Results[*l.Job] = l.Result
	delete(r.Failed, *l.Job)
	return nil
}

// differ reports whether there are two results and they differ.
func differ(a, b json.RawMessage) bool {
	return a != nil && b != nil && !bytes.Equal(a, b) && !reflect.DeepEqual(value(a), value(b))
}

// ContradictionError is returned when two results of one job differ. A job
// depends on the plan alone, so one of the two was made by another version of
// the program or of Go, or a run was not deterministic.
type ContradictionError struct {
	// About names the job.
	About string
	// First and Second are the files with the two results.
	First, Second string
	// Field is the first field that differs, if known.
	Field string
}

func (e *ContradictionError) Error() string {
	text := fmt.Sprintf("%s and %s contradict each other about %s", e.First, e.Second, e.About)
	if e.Field != "" {
		text += ": " + e.Field
	}
	return text + ": they were made by different versions, or a run was not deterministic"
}

// Union combines several records of one plan. The error is a [*PlanError] or a
// [*ContradictionError].
func Union(records ...*Record) (*Record, error) {
	if len(records) == 0 {
		return nil, errors.New("there are no records to combine")
	}
	all := newRecord()
	all.Name, all.Kind, all.Plan = records[0].Name, records[0].Kind, records[0].Plan
	results, answers := map[int]*Record{}, map[string]*Record{} // the first record with each result
	for _, r := range records {
		if err := r.samePlan(records[0]); err != nil {
			return nil, err
		}
		all.Jobs = max(all.Jobs, r.Jobs)
		if all.Asked == "" {
			all.Asked = r.Asked
		}
		maps.Copy(all.Failed, r.Failed)
		for _, job := range slices.Sorted(maps.Keys(r.Results)) {
			if differ(all.Results[job], r.Results[job]) {
				return nil, contradiction(fmt.Sprintf("job %d", job), results[job], r, all.Results[job], r.Results[job])
			}
			if results[job] == nil {
				results[job], all.Results[job] = r, r.Results[job]
			}
		}
		for _, key := range slices.Sorted(maps.Keys(r.Answers)) {
			if differ(all.Answers[key], r.Answers[key]) {
				return nil, contradiction("what follows from the results", answers[key], r, all.Answers[key], r.Answers[key])
			}
			if answers[key] == nil {
				answers[key], all.Answers[key] = r, r.Answers[key]
			}
		}
	}
	for job := range all.Results {
		delete(all.Failed, job)
	}
	return all, nil
}

func contradiction(about string, first, second *Record, a, b json.RawMessage) error {
	e := &ContradictionError{About: about, First: first.Name, Second: second.Name}
	if fields := difference(value(a), value(b), ""); len(fields) > 0 {
		e.Field = fields[0]
	}
	return e
}

// PlanError is returned for results of another plan than the expected one.
type PlanError struct {
	// File is the file with the other plan. Other is the file with the expected plan, or
	// empty for that of the campaign that is run.
	File, Other string
	// Fields are the differences, such as "runs is 1000, not 2000".
	Fields []string
}

func (e *PlanError) Error() string {
	other := e.Other
	if other == "" {
		other = "the one asked for"
	}
	return fmt.Sprintf("%s has the results of another plan than %s: %s", e.File, other, strings.Join(e.Fields, "; "))
}

// samePlan returns a [*PlanError] if two records differ in kind or plan.
func (r *Record) samePlan(other *Record) error {
	fields := difference(map[string]any{"kind": r.Kind, "plan": value(r.Plan)},
		map[string]any{"kind": other.Kind, "plan": value(other.Plan)}, "")
	if len(fields) == 0 {
		return nil
	}
	const most = 5
	if n := len(fields) - most; n > 1 {
		fields = append(fields[:most], fmt.Sprintf("and %d other differences", n))
	}
	return &PlanError{File: r.Name, Other: other.Name, Fields: fields}
}

// difference lists the differences of two JSON values, in the order of their fields.
func difference(a, b any, path string) []string {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	left, isObject := a.(map[string]any)
	right, areObjects := b.(map[string]any)
	if !isObject || !areObjects {
		return []string{fmt.Sprintf("%s is %s, not %s", path, shortJSON(a), shortJSON(b))}
	}
	fields := map[string]bool{}
	for field := range left {
		fields[field] = true
	}
	for field := range right {
		fields[field] = true
	}
	var out []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		inner := field // without "plan.", which most messages would have
		if path != "" && path != "plan" {
			inner = path + "." + field
		}
		out = append(out, difference(left[field], right[field], inner)...)
	}
	return out
}

// shortJSON is a value as JSON, truncated to a length that fits into a sentence.
func shortJSON(v any) string {
	const most = 60
	b, err := json.Marshal(v)
	if err != nil || v == nil {
		return "missing"
	}
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "…"
	}
	return string(b)
}

// value is decoded JSON, with numbers as they are written. It is nil for text that is
// not JSON.
func value(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}
