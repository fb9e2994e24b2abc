package app

import (
	"fmt"
	"io"
	"time"

	"locksim/scenarios/matrix"
)

// progress tells a person at a terminal how far a long command has come. The
// zero value tells nobody.
type progress struct {
	w      io.Writer // nil: nobody looks
	jobs   []matrix.Job
	steps  []int // the seeds done of each job
	runs   portion
	labour portion // runs, weighted by how long they take
	began  time.Time
	shown  time.Time
}

// portion is a part of a whole.
type portion struct{ done, all int }

func (s *shell) newProgress(jobs []matrix.Job) *progress {
	p := &progress{jobs: jobs, steps: make([]int, len(jobs)), began: time.Now()}
	if isTerminal(s.err) {
		p.w = s.err
	}
	for _, j := range jobs {
		p.runs.all += j.Runs()
		p.labour.all += j.Weight
	}
	return p
}

// step is told of each seed that is done.
func (p *progress) step(id int) {
	if p.steps[id] < p.jobs[id].Seeds.Len() { // a job that is tried again begins anew
		p.forward(id, 1)
	}
	p.show(time.Now())
}

// done is told of each job that is done.
func (p *progress) done(id int) {
	p.forward(id, p.jobs[id].Seeds.Len()-p.steps[id])
	p.show(time.Now())
}

func (p *progress) forward(id, seeds int) {
	j := p.jobs[id]
	p.steps[id] += seeds
	p.runs.done += seeds * len(j.Modes)
	p.labour.done += seeds * j.Weight / j.Seeds.Len()
}

// often is how often the line is written anew.
const often = 200 * time.Millisecond

func (p *progress) show(now time.Time) {
	if p.w == nil || now.Sub(p.shown) < often || now.Sub(p.began) < patience {
		return
	}
	p.shown = now
	_, _ = io.WriteString(p.w, "\r\x1b[K"+p.line(now.Sub(p.began))) // it is only a courtesy
}

// clear takes the line back.
func (p *progress) clear() {
	if p.w != nil && !p.shown.IsZero() {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
	}
}

// line says how much is done, how fast, and how long the rest will take.
func (p *progress) line(spent time.Duration) string {
	text := fmt.Sprintf("%d of %d runs", p.runs.done, p.runs.all)
	if spent <= 0 || p.labour.done == 0 {
		return text
	}
	left := time.Duration(float64(spent) * float64(p.labour.all-p.labour.done) / float64(p.labour.done))
	return fmt.Sprintf("%s, %.0f runs/s, %v left", text, float64(p.runs.done)/spent.Seconds(), left.Round(time.Second))
}
