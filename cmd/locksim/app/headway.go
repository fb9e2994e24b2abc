package app

import (
	"fmt"
	"io"
	"time"

	"locksim/internal/campaign"
)

// headway tells a person at a terminal how far a campaign has come.
type headway struct {
	w io.Writer // nil: nobody looks
	// noun is what is counted, such as "runs"; size is how many of them a job
	// has, detail says what is known besides, or nothing.
	noun   string
	size   func(job int) int
	detail func() string

	jobs     int         // of the shard
	all      int         // what they have
	finished int         // what finished jobs have
	steps    map[int]int // what is done of the jobs at hand
	made     int         // the steps of this very process
	began    time.Time
	shown    time.Time
}

// newHeadway is the headway of a shard of so many jobs.
func (s *shell) newHeadway(noun string, shard campaign.Shard, jobs int, size func(job int) int, detail func() string) *headway {
	h := &headway{noun: noun, size: size, detail: detail, steps: map[int]int{}, began: time.Now()}
	if isTerminal(s.err) {
		h.w = s.err
	}
	for i := range jobs {
		if shard.Has(i) {
			h.jobs++
			h.all += size(i)
		}
	}
	return h
}

// step is told of each step of a job.
func (h *headway) step(job int) {
	h.made++
	h.steps[job] = min(h.steps[job]+1, h.size(job)) // a job that is tried again begins anew
	h.show(time.Now())
}

// done is told of each job that has a result.
func (h *headway) done(job int) {
	delete(h.steps, job)
	h.finished += h.size(job)
	h.show(time.Now())
}

func (h *headway) show(now time.Time) {
	if h.w == nil || now.Sub(h.shown) < often || now.Sub(h.began) < patience {
		return
	}
	h.shown = now
	_, _ = io.WriteString(h.w, "\r\x1b[K"+h.line(now.Sub(h.began))) // it is only a courtesy
}

// clear takes the line back.
func (h *headway) clear() {
	if h.w != nil && !h.shown.IsZero() {
		_, _ = io.WriteString(h.w, "\r\x1b[K")
	}
}

// line says how much is done, how fast, and how long the rest will take at most.
func (h *headway) line(spent time.Duration) string {
	now := h.finished
	for _, n := range h.steps {
		now += n
	}
	text := fmt.Sprintf("%d of %d %s", now, h.all, h.noun)
	if spent > 0 && h.made > 0 {
		rate := float64(h.made) / spent.Seconds()
		left := time.Duration(float64(h.all-now) / rate * float64(time.Second))
		text += fmt.Sprintf(", %.0f %s/s, %v left", rate, h.noun, left.Round(time.Second))
	}
	if detail := h.detail(); detail != "" {
		text += ", " + detail
	}
	return text
}
