package campaign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"locksim/internal/workers"
)

// Job is a piece of work for one child process. [Task.Job] makes one; the fields
// are what people are told of it.
type Job struct {
	// Name says which job it is, in an error: "seeds 1 to 100".
	Name string
	// Noun is what the job consists of: "runs". Count is how many these are, and
	// Steps how often the child reports that some of them are done. Default of
	// Steps: Count.
	Noun  string
	Count int
	Steps int
	// Weight guesses how long the job takes, compared with the others. Default:
	// Count.
	Weight int

	task string
	data any
}

func (j Job) steps() int {
	if j.Steps > 0 {
		return j.Steps
	}
	return j.Count
}

func (j Job) weight() int {
	if j.Weight > 0 {
		return j.Weight
	}
	return j.Count
}

// named is an error of the job.
func (j Job) named(err error) error {
	if j.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", j.Name, err)
}

// key is the same for two jobs that are the same.
func (j Job) key() (string, error) {
	data, err := marshal(j.data)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return j.task + " " + hex.EncodeToString(sum[:16]), nil
}

// Task is a sort of job: J is what a child is told, A what it answers. Both are
// values that are the same after they were written as JSON and read again. Its
// text is the name by which parent and child speak of it.
type Task[J, A any] string

// Job is a job of the task.
func (t Task[J, A]) Job(data J) Job { return Job{task: string(t), data: data} }

// Read reads an answer. Fields that the answer does not have are an error: the
// answer is to another task then.
func (t Task[J, A]) Read(answer json.RawMessage) (A, error) {
	var a A
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, fmt.Errorf("this is no result of task %s: %w", t, err)
	}
	return a, nil
}

// Results are those of a record whose jobs are all of the task.
func (t Task[J, A]) Results(r *Record) (map[int]A, error) {
	all := map[int]A{}
	for i, raw := range r.Results {
		a, err := t.Read(raw)
		if err != nil {
			return nil, fmt.Errorf("%sjob %d: %w", r.prefix(), i, err)
		}
		all[i] = a
	}
	return all, nil
}

// Answer is the answer to a job that results have called for. ok is false where
// there is none.
func (t Task[J, A]) Answer(r *Record, data J) (a A, ok bool, err error) {
	key, err := t.Job(data).key()
	if err != nil {
		return a, false, err
	}
	raw, ok := r.Answers[key]
	if !ok {
		return a, false, nil
	}
	a, err = t.Read(raw)
	return a, err == nil, err
}

// By is how a child does the jobs of the task.
func (t Task[J, A]) By(do func(data J, step func()) (A, error)) Handler {
	return Handler{task: string(t), do: func(raw json.RawMessage, step func()) (any, error) {
		var data J
		if err := json.Unmarshal(raw, &data); err != nil {
			return nil, fmt.Errorf("read the job: %w", err)
		}
		return do(data, step)
	}}
}

// Handler does the jobs of one task in a child. [Task.By] makes one.
type Handler struct {
	task string
	do   func(raw json.RawMessage, step func()) (any, error)
}

// request is a job as it is sent to a child.
type request[J any] struct {
	Task string `json:"task"`
	Data J      `json:"data"`
}

// Serve answers the jobs that a parent sends until its input ends; see
// [workers.Serve].
func Serve(in io.Reader, out io.Writer, handlers ...Handler) error {
	return workers.Serve(in, out, func(r request[json.RawMessage], step func()) (any, error) {
		for _, h := range handlers {
			if h.task == r.Task {
				return h.do(r.Data, step)
			}
		}
		return nil, errors.New("this program knows no task " + r.Task)
	})
}
