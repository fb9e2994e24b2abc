package app

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"locksim/internal/workers"
	"locksim/scenarios/explore"
	"locksim/scenarios/matrix"
	"locksim/scenarios/review"
	"locksim/scenarios/search"
	"locksim/scenarios/sweep"
	"locksim/sim"
)

// workerJob is what a child of this command can be asked to do: one of its
// fields.
type workerJob struct {
	Matrix  *matrix.Job        `json:"matrix,omitempty"`
	Explore *explore.Job       `json:"explore,omitempty"`
	Sweep   *sweep.Job         `json:"sweep,omitempty"`
	Examine *sweep.Examination `json:"examine,omitempty"`
	Page    *pageJob           `json:"page,omitempty"`
	Report  *foundPageJob      `json:"report,omitempty"`
	Fences  *review.FenceJob   `json:"fences,omitempty"`
	Compare *compareJob        `json:"compare,omitempty"`
}

// workerAnswer is the answer, in the field of the job's name.
type workerAnswer struct {
	Matrix  *matrix.Answer  `json:"matrix,omitempty"`
	Explore *explore.Block  `json:"explore,omitempty"`
	Sweep   *sweep.Block    `json:"sweep,omitempty"`
	Failure *search.Failure `json:"failure,omitempty"`
	Page    *pageAnswer     `json:"page,omitempty"`
	Report  string          `json:"report,omitempty"`
	Fences  []review.Fence  `json:"fences,omitempty"`
	Compare *compareAnswer  `json:"compare,omitempty"`
}

// workerCommand is what the children of this command run. People have no use
// for it.
func (s *shell) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Do jobs that come on standard input",
		Long:   "Worker does the jobs of another locksim, which starts it. It ends when its\nstandard input does.",
		Hidden: true,
		Args:   exactly(0, "no arguments"),
		RunE:   func(*cobra.Command, []string) error { return s.serve() },
	}
}

// serve is the life of a child.
func (s *shell) serve() error {
	signal.Ignore(os.Interrupt) // Ctrl-C reaches the parent too, which ends its children
	os.Stdout = os.Stderr       // what other people's code prints must not come between the answers
	err := workers.Serve(s.in, s.out, s.do)
	switch {
	case err == nil, errors.Is(err, workers.ErrSpent): // the parent has been told
		return nil
	case errors.Is(err, workers.ErrBadRequest):
		return fmt.Errorf("worker: %w: only locksim itself calls it", err)
	}
	return &brokenError{cause: err}
}

// do is one job of a child.
func (s *shell) do(j workerJob, step func()) (workerAnswer, error) {
	a, err := s.answer(j, step)
	if _, frozen := errors.AsType[*sim.FrozenError](err); frozen {
		return workerAnswer{}, fmt.Errorf("%w: %w", workers.ErrSpent, err) // the bubble is still there, and may be busy
	}
	return a, err
}

// answer does a job. That the job of a matrix fails is an answer too, unless
// the world is frozen.
func (s *shell) answer(j workerJob, step func()) (workerAnswer, error) {
	switch {
	case j.Matrix != nil:
		tallies, err := j.Matrix.Play(s.extra, step)
		a := matrix.NewAnswer(tallies, err)
		return workerAnswer{Matrix: &a}, onlyFrozen(err)
	case j.Explore != nil:
		block, err := j.Explore.Play(s.extra, step)
		return workerAnswer{Explore: &block}, err
	case j.Sweep != nil:
		block, err := j.Sweep.Play(s.extra, step)
		return workerAnswer{Sweep: &block}, err
	case j.Examine != nil:
		f, err := j.Examine.Play(s.extra)
		return workerAnswer{Failure: f}, err
	case j.Page != nil:
		page, err := runs{s}.page(*j.Page)
		return workerAnswer{Page: page}, err
	case j.Report != nil:
		html, err := explorations{s}.foundPage(*j.Report)
		return workerAnswer{Report: html}, err
	case j.Fences != nil:
		fences, err := j.Fences.Play(s.extra)
		return workerAnswer{Fences: fences}, err
	case j.Compare != nil:
		answer, err := comparisons{s}.measure(*j.Compare, step)
		return workerAnswer{Compare: answer}, err
	}
	return workerAnswer{}, errors.New("this job is of no kind that is known here")
}

// onlyFrozen is an error if it is that of a frozen world.
func onlyFrozen(err error) error {
	if frozen, ok := errors.AsType[*sim.FrozenError](err); ok {
		return frozen
	}
	return nil
}

// child makes the commands of children: this program again, under the name that
// it was called by.
func (s *shell) child() (func() *exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, &brokenError{cause: fmt.Errorf("find this program, to run it in child processes: %w", err)}
	}
	return func() *exec.Cmd {
		cmd := exec.Command(program, "worker")
		cmd.Args[0] = os.Args[0]
		cmd.Env = tuned(os.Environ())
		return cmd
	}, nil
}

// tuned makes the Go runtime of a child collect less garbage, of which there is
// little at any time, and begin goroutines with stacks that need not grow.
// Together that makes runs faster by a sixth. What the user has set stays.
func tuned(env []string) []string {
	debug := ""
	collected := false
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "GODEBUG="); ok && value != "" {
			debug = value + ","
		}
		collected = collected || strings.HasPrefix(v, "GOGC=")
	}
	if !collected {
		env = append(env, "GOGC=400")
	}
	return append(env, "GODEBUG="+debug+"adaptivestackstart=1")
}

// matrixJobs are the jobs of a matrix as children take them.
func matrixJobs(jobs []matrix.Job) iter.Seq[workerJob] {
	return func(yield func(workerJob) bool) {
		for i := range jobs {
			if !yield(workerJob{Matrix: &jobs[i]}) {
				return
			}
		}
	}
}

// matrixAnswer is the answer to a job of a matrix. That a child was lost over it
// is an answer too.
func matrixAnswer(d workers.Done[workerJob, workerAnswer]) matrix.Answer {
	switch {
	case d.Err != nil:
		return matrix.Answer{Error: fmt.Sprintf("%s: %v", d.Job.Matrix.Seeds, d.Err)}
	case d.Result.Matrix == nil:
		return matrix.Answer{Error: "the worker gave no answer"}
	}
	return *d.Result.Matrix
}
