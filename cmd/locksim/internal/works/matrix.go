package works

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/campaign"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/reports/junit"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/subject"
)

// MatrixKind is the kind of a matrix among campaigns, and the name of its files.
const MatrixKind = "matrix"

// Matrix is a matrix.
type Matrix struct {
	*console.Console
	Plan *matrix.Plan
	// Asked are the arguments that make the same matrix on any machine, without --out and the like.
	Asked  string
	JUnit  string
	NoRuns bool
}

func readMatrix(c *console.Console, extra []subject.Lock, r *campaign.Record, noRuns bool) (*Matrix, error) {
	plan, err := matrix.ReadPlan(r.Plan, extra)
	return &Matrix{Console: c, Plan: plan, Asked: r.Asked, NoRuns: noRuns}, err
}

// Campaign implements [publish.Work].
func (x *Matrix) Campaign() campaign.Campaign {
	jobs := x.Plan.Jobs()
	return campaign.Campaign{Kind: MatrixKind, Plan: x.Plan, Asked: x.Asked, Jobs: len(jobs),
		Job: func(i int) campaign.Job {
			job := matrixTask.Job(jobs[i])
			of := x.Plan.Timing(i, 0)
			job.Name = fmt.Sprintf("%s with %s, %s", of.Scenario, of.Lock, jobs[i].Seeds)
			job.Noun, job.Count, job.Steps, job.Weight = "runs", jobs[i].Runs(), jobs[i].Seeds.Len(), jobs[i].Weight
			return job
		},
		Take: func(i int, result json.RawMessage) (last bool, err error) {
			a, err := matrixTask.Read(result)
			if err == nil {
				err = x.Plan.Refusal(i, a)
			}
			if err == nil && a.BadInput == nil && len(a.Tallies) != len(jobs[i].Modes) {
				err = fmt.Errorf("it has %d fencing modes of %d", len(a.Tallies), len(jobs[i].Modes))
			}
			return false, err
		},
	}
}

// Detail implements [publish.Work].
func (x *Matrix) Detail() string { return "" }

// Divisible implements [publish.Work].
func (x *Matrix) Divisible() bool { return false }

// assembled is the matrix, without what differs from run to run. A failed job is in the
// failures of the matrix.
func (x *Matrix) assembled(r *campaign.Record) (*matrices.Matrix, error) {
	done, err := matrixTask.Results(r)
	if err != nil {
		return nil, err
	}
	jobs := x.Plan.Jobs()
	answers := make([]matrix.Answer, len(jobs))
	for i := range answers {
		a, ok := done[i]
		if failed := r.Failed[i]; failed != nil {
			a, ok = matrix.Answer{Error: fmt.Sprintf("%s: %v", jobs[i].Seeds, failed)}, true
		}
		if !ok {
			return nil, publish.Incomplete(len(jobs) - len(done) - len(r.Failed))
		}
		answers[i] = a
	}
	m := x.Plan.Assemble(answers, runfiles.Again(x.Console))
	m.Timing = matrices.NewTiming()
	return m, nil
}

// slowest is the number of jobs in the timing of a matrix.
const slowest = 10

// Finished implements [publish.Work].
func (x *Matrix) Finished(r *publish.Results) (publish.Finished, error) {
	m, err := x.assembled(r.Record)
	if err != nil {
		return publish.Finished{}, err
	}
	m.Timing.WallSeconds, m.Timing.Workers = r.Wall.Seconds(), r.Children
	for i, wall := range r.Took {
		m.Timing.Slowest = append(m.Timing.Slowest, x.Plan.Timing(i, wall))
	}
	slices.SortFunc(m.Timing.Slowest,
		func(a, b matrices.JobTiming) int { return cmp.Compare(b.WallSeconds, a.WallSeconds) })
	m.Timing.Slowest = m.Timing.Slowest[:min(slowest, len(m.Timing.Slowest))]
	var notes []string
	for _, c := range m.Problems() {
		notes = append(notes, fmt.Sprintf("%s, lock %s, mode %s: %s", c.Scenario, c.Lock, c.Mode, c.Problem()))
		if c.CellRuns != nil {
			notes = append(notes, "replay: "+c.Replay)
		}
	}
	return publish.Finished{
		Kind:     MatrixKind,
		Document: m,
		Text: func(w io.Writer, opt reports.Options) error {
			opt.Width = matrixWidth
			return terminal.Matrix(w, m, opt)
		},
		Markdown: func(w io.Writer) error { return markdown.Matrix(w, m) },
		CSV:      func() csv.Table { return csv.Matrix(m) },
		Files: []func() (outfile.Document, error){func() (outfile.Document, error) {
			var b bytes.Buffer
			err := markdown.MatrixIndex(&b, m)
			return outfile.Document{Name: "MATRIX.md", Data: b.Bytes()}, err
		}},
		Pages:      func(add func(string, []byte) error) (problem, err error) { return x.pages(r, m, add) },
		WriteExtra: func() error { return outfile.Save(x.JUnit, func(w io.Writer) error { return junit.Matrix(w, m) }) },
		Notes:      notes,
		Problem:    matrixProblem(m),
	}, nil
}

// matrixWidth is the maximal width of the table.
const matrixWidth = 100

// matrixProblem is the error that decides the exit code.
func matrixProblem(m *matrices.Matrix) error {
	switch n := len(m.Failures); {
	case n > 0:
		return &console.BrokenError{Cause: fmt.Errorf("the runs of %d pairs of scenario and lock failed; the first: %s "+
			"with %s: %s",
			n, m.Failures[0].Scenario, m.Failures[0].Lock, m.Failures[0].Why), Replay: m.Failures[0].Replay}
	case !m.Expected:
		return console.ErrUnexpected
	}
	return nil
}
