package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/campaign"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/reports/junit"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
)

// matrixKind is the kind of a matrix among campaigns, and the name of its files.
const matrixKind = "matrix"

// matrixWork is a matrix.
type matrixWork struct {
	*console.Console
	plan *matrix.Plan
	// asked are the arguments of the command; see [matrixFlags.asked].
	asked  string
	junit  string
	noRuns bool
}

func readMatrix(c *console.Console, extra []play.Lock, r *campaign.Record, noRuns bool) (*matrixWork, error) {
	plan, err := matrix.ReadPlan(r.Plan, extra)
	return &matrixWork{Console: c, plan: plan, asked: r.Asked, noRuns: noRuns}, err
}

func (x *matrixWork) campaign() campaign.Campaign {
	jobs := x.plan.Jobs()
	return campaign.Campaign{Kind: matrixKind, Plan: x.plan, Asked: x.asked, Jobs: len(jobs),
		Job: func(i int) campaign.Job {
			job := matrixTask.Job(jobs[i])
			of := x.plan.Timing(i, 0)
			job.Name = fmt.Sprintf("%s with %s, %s", of.Scenario, of.Lock, jobs[i].Seeds)
			job.Noun, job.Count, job.Steps, job.Weight = "runs", jobs[i].Runs(), jobs[i].Seeds.Len(), jobs[i].Weight
			return job
		},
		Take: func(i int, result json.RawMessage) (last bool, err error) {
			a, err := matrixTask.Read(result)
			if err == nil {
				err = x.plan.Refusal(i, a)
			}
			if err == nil && a.BadInput == nil && len(a.Tallies) != len(jobs[i].Modes) {
				err = fmt.Errorf("it has %d fencing modes of %d", len(a.Tallies), len(jobs[i].Modes))
			}
			return false, err
		},
	}
}

func (x *matrixWork) detail() string { return "" }

func (x *matrixWork) divisible() bool { return false }

// assembled is the matrix, without what differs from run to run. A failed job is in the
// failures of the matrix.
func (x *matrixWork) assembled(r *campaign.Record) (*matrix.Matrix, error) {
	done, err := matrixTask.Results(r)
	if err != nil {
		return nil, err
	}
	jobs := x.plan.Jobs()
	answers := make([]matrix.Answer, len(jobs))
	for i := range answers {
		a, ok := done[i]
		if failed := r.Failed[i]; failed != nil {
			a, ok = matrix.Answer{Error: fmt.Sprintf("%s: %v", jobs[i].Seeds, failed)}, true
		}
		if !ok {
			return nil, incomplete(len(jobs) - len(done) - len(r.Failed))
		}
		answers[i] = a
	}
	m := x.plan.Assemble(answers, runfiles.Again(x.Console))
	m.Timing = matrix.NewTiming()
	return m, nil
}

// slowest is the number of jobs in the timing of a matrix.
const slowest = 10

func (x *matrixWork) finished(r *results) (finished, error) {
	m, err := x.assembled(r.Record)
	if err != nil {
		return finished{}, err
	}
	m.Timing.WallSeconds, m.Timing.Workers = r.wall.Seconds(), r.children
	for i, wall := range r.Took {
		m.Timing.Slowest = append(m.Timing.Slowest, x.plan.Timing(i, wall))
	}
	slices.SortFunc(m.Timing.Slowest, func(a, b matrix.JobTiming) int { return cmp.Compare(b.WallSeconds, a.WallSeconds) })
	m.Timing.Slowest = m.Timing.Slowest[:min(slowest, len(m.Timing.Slowest))]
	var notes []string
	for _, c := range m.Problems() {
		notes = append(notes, fmt.Sprintf("%s, lock %s, mode %s: %s", c.Scenario, c.Lock, c.Mode, c.Problem()))
		if c.CellRuns != nil {
			notes = append(notes, "replay: "+c.Replay)
		}
	}
	markdown := func(w io.Writer) error { return markdown.Matrix(w, m) }
	return finished{
		kind:     matrixKind,
		document: m,
		text: func(w io.Writer, opt reports.Options) error {
			opt.Width = matrixWidth
			return terminal.Matrix(w, m, opt)
		},
		markdown: markdown,
		csv:      func() csv.Table { return csv.Matrix(m) },
		files: []func() (outfile.Document, error){func() (outfile.Document, error) {
			var b bytes.Buffer
			err := markdown(&b)
			return outfile.Document{Name: "MATRIX.md", Data: b.Bytes()}, err
		}},
		pages:      func(add func(string, []byte) error) (problem, err error) { return x.pages(r, m, add) },
		writeExtra: func() error { return outfile.Save(x.junit, func(w io.Writer) error { return junit.Matrix(w, m) }) },
		notes:      notes,
		problem:    matrixProblem(m),
	}, nil
}

// matrixWidth is the maximal width of the table.
const matrixWidth = 100

// matrixProblem is the error that decides the exit code.
func matrixProblem(m *matrix.Matrix) error {
	switch n := len(m.Failures); {
	case n > 0:
		return &console.BrokenError{Cause: fmt.Errorf("the runs of %d pairs of scenario and lock failed; the first: %s with %s: %s",
			n, m.Failures[0].Scenario, m.Failures[0].Lock, m.Failures[0].Why), Replay: m.Failures[0].Replay}
	case !m.Expected:
		return console.ErrUnexpected
	}
	return nil
}
