package campaign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"locksim/internal/journal"
	"locksim/internal/workers"
)

// Job is a piece of work for one child process. [Task.Job] makes one; the fields
// describe it in errors and in progress.
type Job struct {
	// Name names the job in errors: "seeds 1 to 100".
	Name string
	// Noun is the unit of the job: "runs". Count is the number of units, and Steps the
	// number of progress reports of the child. Default of Steps: Count.
	Noun  string
	Count int
	Steps int
	// Unit says in a sentence what a child was executing that has reported so many units, and then ended. Nil leaves it
	// out.
	Unit func(reported int) string
	// Weight estimates the duration of the job, relative to the others. Default:
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

// named puts the name of the job before an error.
func (j Job) named(err error) error {
	if j.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", j.Name, err)
}

// crashed adds to the error of a job whose child ended what that one was about to do.
func (j Job) crashed(err error) error {
	if crash, ok := errors.AsType[*workers.CrashError](err); ok && j.Unit != nil {
		return fmt.Errorf("%w\n%s", err, j.Unit(crash.Steps))
	}
	return err
}

// key identifies a job by its task and data: equal jobs have equal keys.
func (j Job) key() (string, error) {
	data, err := journal.Line(j.data)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return j.task + " " + hex.EncodeToString(sum[:16]), nil
}

// Task is a kind of job: J is the type of the data that a child gets, A the type of its
// answer. Values of both must be the same after they were written as JSON and read
// again. The text of a Task is its name in the messages between parent and child.
type Task[J, A any] string

// Job is a job of the task.
func (t Task[J, A]) Job(data J) Job { return Job{task: string(t), data: data} }

// Read reads an answer. A field that A does not have is an error: such an answer is of
// another task.
func (t Task[J, A]) Read(answer json.RawMessage) (A, error) {
	var a A
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, fmt.Errorf("this is no result of task %s: %w", t, err)
	}
	return a, nil
}

// Results are the results of a record whose jobs are all of the task.
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

// Answer is the answer of a job that followed from results. ok is false if the record
// has none.
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

// Handler makes the handler of the task in a child: do executes a job.
func (t Task[J, A]) Handler(do func(data J, step func()) (A, error)) Handler {
	return Handler{task: string(t), do: func(raw json.RawMessage, step func()) (any, error) {
		var data J
		if err := json.Unmarshal(raw, &data); err != nil {
			return nil, fmt.Errorf("read the job: %w", err)
		}
		return do(data, step)
	}}
}

// Handler executes the jobs of one task in a child. [Task.Handler] makes one.
type Handler struct {
	task string
	do   func(raw json.RawMessage, step func()) (any, error)
}

// request is a job as it is sent to a child.
type request[J any] struct {
	Task string `json:"task"`
	Data J      `json:"data"`
}

// Serve executes the jobs that a parent sends, until the input ends; see
// [workers.Serve].
func Serve(in io.Reader, out io.Writer, handlers ...Handler) error {
	return workers.Serve(in, out, func(r request[json.RawMessage], step func()) (any, error) {
		for _, h := range handlers {
			if h.task == r.Task {
				return h.do(r.Data, step)
			}
		}
		return nil, errors.New("this program has no task " + r.Task)
	})
}
