package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"locksim/internal/workers"
	"locksim/reports/html"
	"locksim/scenarios/play"
)

// foundPageJob is a stored run whose page is to be written. It is a value that can be
// sent to a child, where it is made again: a lock that ends its process does not
// take the results along.
type foundPageJob struct {
	Run *play.RunFile `json:"run"`
	// Replay is the command at the end of the page.
	Replay string `json:"replay"`
}

// foundPage does the job.
func (s explorations) foundPage(j foundPageJob) (string, error) {
	_, l, err := j.Run.Setup(s.extra)
	if err != nil {
		return "", err
	}
	o, err := j.Run.Replay(s.extra, play.Twice)
	if err != nil {
		return "", err
	}
	opt := runs(s).pageOptions(o, l, play.Twice)
	opt.Replay = j.Replay
	page, err := pageFile(o, opt)
	return string(page.data), err
}

// pageName is the page of the i-th violation, from 1 on.
func pageName(i int) string { return fmt.Sprintf("found-%d.html", i) }

// foundPages has child processes write the pages of violations, by their numbers.
// One that cannot be written is left out, and people are told why.
func (s explorations) foundPages(jobs map[int]foundPageJob, children int) (map[int]document, error) {
	pages := map[int]document{}
	if len(jobs) == 0 {
		return pages, nil
	}
	command, err := s.child()
	if err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer s.busy("writing the reports of the violations")()
	numbers, todo := numbered(jobs)
	opt := workers.Options{Command: command, Workers: min(children, len(jobs)), Silence: silence}
	err = workers.Run(ctx, opt, todo, func(d workers.Done[workerJob, workerAnswer]) {
		i := numbers[d.ID]
		if d.Err != nil {
			s.note(fmt.Sprintf("%s cannot be written: %v", pageName(i), d.Err))
			return
		}
		pages[i] = document{pageName(i), []byte(d.Result.Report)}
	})
	if errors.Is(err, context.Canceled) {
		return nil, errors.New("interrupted while reports were written: the results are kept; go on with the same command and --resume")
	}
	return pages, err
}

// numbered are jobs in the order of their numbers.
func numbered(jobs map[int]foundPageJob) ([]int, func(yield func(workerJob) bool)) {
	var numbers []int
	for i := 1; len(numbers) < len(jobs); i++ {
		if _, ok := jobs[i]; ok {
			numbers = append(numbers, i)
		}
	}
	return numbers, func(yield func(workerJob) bool) {
		for _, i := range numbers {
			job := jobs[i]
			if !yield(workerJob{Report: &job}) {
				return
			}
		}
	}
}

// campaignFiles are the page of a campaign, called by its kind, and those of its
// violations, to which it links. opt has the rest of what the page says.
func (s explorations) campaignFiles(kind string, jobs map[int]foundPageJob, children int, opt html.CampaignOptions, render func(b *bytes.Buffer, opt html.CampaignOptions) error) ([]document, error) {
	pages, err := s.foundPages(jobs, children)
	if err != nil {
		return nil, err
	}
	opt.Page = func(i int) string { return pages[i].name }
	opt.Replay = func(i int) string { return jobs[i].Replay }
	var b bytes.Buffer
	if err := render(&b, opt); err != nil {
		return nil, err
	}
	files := []document{{kind + ".html", b.Bytes()}}
	for i := 1; len(files) <= len(pages); i++ {
		if page, ok := pages[i]; ok {
			files = append(files, page)
		}
	}
	return files, nil
}
