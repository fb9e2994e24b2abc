package campaign

import (
	"fmt"
	"time"
)

// Progress is the progress of jobs.
type Progress struct {
	// Noun is the unit of the counts: "runs".
	Noun string
	// Done of All units are done. This process made Made of them, in the time Spent.
	Done, All, Made int
	Spent           time.Duration
	// WeightDone is the weight of the work that this process has done, WeightLeft that
	// of the work that is left.
	WeightDone, WeightLeft int
}

// String has the counts and, as far as they are known, the rate and the time left.
func (p Progress) String() string {
	text := fmt.Sprintf("%d of %d %s", p.Done, p.All, p.Noun)
	if p.Spent <= 0 || p.Made == 0 || p.WeightDone == 0 {
		return text
	}
	if rate := float64(p.Made) / p.Spent.Seconds(); rate >= 1 {
		text += fmt.Sprintf(", %.0f/s", rate)
	}
	left := time.Duration(float64(p.Spent) * float64(p.WeightLeft) / float64(p.WeightDone))
	return text + fmt.Sprintf(", %v left", left.Round(time.Second))
}

// meter counts the progress of jobs.
type meter struct {
	watch func(Progress) // may be nil
	p     Progress
	start time.Time
	steps map[int]int // by the ids of the jobs in progress: the steps counted so far
}

func newMeter(watch func(Progress)) *meter {
	return &meter{watch: watch, start: time.Now(), steps: map[int]int{}}
}

// add adds a job that has to be executed or, if done, has a result already.
func (m *meter) add(j Job, done bool) {
	m.p.Noun = j.Noun
	m.p.All += j.Count
	if done {
		m.p.Done += j.Count
	} else {
		m.p.WeightLeft += j.weight()
	}
}

// step counts a step of a job, at most as many as the job has: a job that is tried again
// reports steps again.
func (m *meter) step(id int, j Job) {
	if m.steps[id] < j.steps() {
		m.forward(id, j, m.steps[id]+1)
	}
}

// done counts the steps of a job that are left when it has ended.
func (m *meter) done(id int, j Job) {
	m.forward(id, j, max(j.steps(), 1))
	delete(m.steps, id)
}

// forward counts the work of a job up to a step.
func (m *meter) forward(id int, j Job, to int) {
	from, all := m.steps[id], max(j.steps(), 1)
	m.steps[id] = to
	count := j.Count*to/all - j.Count*from/all
	labour := j.weight()*to/all - j.weight()*from/all
	m.p.Done += count
	m.p.Made += count
	m.p.WeightDone += labour
	m.p.WeightLeft -= labour
	m.show()
}

func (m *meter) show() {
	if m.watch == nil {
		return
	}
	m.p.Spent = time.Since(m.start)
	m.watch(m.p)
}
