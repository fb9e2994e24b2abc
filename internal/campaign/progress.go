package campaign

import (
	"fmt"
	"time"
)

// Progress is how far some jobs have come.
type Progress struct {
	// Noun is what the jobs consist of: "runs".
	Noun string
	// Done of All are done, Made of them by this process, in the time Spent.
	Done, All, Made int
	Spent           time.Duration
	// Labour is the weight of what this process has done, Ahead of what is still
	// to be done.
	Labour, Ahead int
}

// String says how much is done, how fast, and how long the rest takes, as far as
// that is known.
func (p Progress) String() string {
	text := fmt.Sprintf("%d of %d %s", p.Done, p.All, p.Noun)
	if p.Spent <= 0 || p.Made == 0 || p.Labour == 0 {
		return text
	}
	if rate := float64(p.Made) / p.Spent.Seconds(); rate >= 1 {
		text += fmt.Sprintf(", %.0f/s", rate)
	}
	left := time.Duration(float64(p.Spent) * float64(p.Ahead) / float64(p.Labour))
	return text + fmt.Sprintf(", %v left", left.Round(time.Second))
}

// meter follows some jobs.
type meter struct {
	watch func(Progress) // may be nil
	p     Progress
	began time.Time
	steps map[int]int // the steps that are reported of the jobs at hand
}

func newMeter(watch func(Progress)) *meter {
	return &meter{watch: watch, began: time.Now(), steps: map[int]int{}}
}

// add adds a job that is to be done, or was done before.
func (m *meter) add(j Job, done bool) {
	m.p.Noun = j.Noun
	m.p.All += j.Count
	if done {
		m.p.Done += j.Count
	} else {
		m.p.Ahead += j.weight()
	}
}

// step is told of each step of a job. A job that is tried again begins anew: its
// first steps do not count again.
func (m *meter) step(id int, j Job) {
	if m.steps[id] < j.steps() {
		m.forward(id, j, m.steps[id]+1)
	}
}

// done is told of each job that has come to its end.
func (m *meter) done(id int, j Job) {
	m.forward(id, j, max(j.steps(), 1))
	delete(m.steps, id)
}

// forward counts a job up to a step.
func (m *meter) forward(id int, j Job, to int) {
	from, all := m.steps[id], max(j.steps(), 1)
	m.steps[id] = to
	count := j.Count*to/all - j.Count*from/all
	labour := j.weight()*to/all - j.weight()*from/all
	m.p.Done += count
	m.p.Made += count
	m.p.Labour += labour
	m.p.Ahead -= labour
	m.show()
}

func (m *meter) show() {
	if m.watch == nil {
		return
	}
	m.p.Spent = time.Since(m.began)
	m.watch(m.p)
}
