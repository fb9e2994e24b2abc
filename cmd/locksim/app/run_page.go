package app

import (
	"bytes"
	"fmt"

	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// pageJob is the page of a run that was made before: a child makes the run again.
type pageJob struct {
	// File and Source are those of the scenario.
	File   string       `json:"file"`
	Source string       `json:"source"`
	Lock   string       `json:"lock"`
	Seed   uint64       `json:"seed"`
	Modes  []fence.Mode `json:"modes"`
	// Hashes are those of the traces that were seen before, as far as they are
	// known.
	Hashes map[fence.Mode]string `json:"hashes"`
	Links  []reports.Link        `json:"links"`
}

// pageAnswer is the page.
type pageAnswer struct {
	HTML []byte `json:"html"`
}

// page makes the run again, and fails where it comes out differently.
func (s runs) page(j pageJob) (*pageAnswer, error) {
	sc, err := file.Parse(j.File, []byte(j.Source), s.serverNames()...)
	if err != nil {
		return nil, err
	}
	l, err := play.FindLock(j.Lock, s.extra)
	if err != nil {
		return nil, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: j.Seed, Modes: j.Modes})
	if err != nil {
		return nil, err
	}
	if err := j.confirm(o); err != nil {
		return nil, err
	}
	opt := s.pageOptions(o, l, j.repeated(o))
	opt.Alike, opt.Links = reports.Together, j.Links
	var b bytes.Buffer
	if err := html.Run(&b, o, opt); err != nil {
		return nil, err
	}
	return &pageAnswer{HTML: b.Bytes()}, nil
}

// repeated says how often each run was made, here and before.
func (j pageJob) repeated(o *play.Outcome) play.Repeat {
	for _, m := range o.Modes {
		if m.Trace != nil && j.Hashes[m.Mode] == "" {
			return play.Once
		}
	}
	return play.Twice
}

// confirm compares the runs with those that were made before.
func (j pageJob) confirm(o *play.Outcome) error {
	for _, m := range o.Modes {
		if want, known := j.Hashes[m.Mode]; known && m.TraceHash != want {
			return fmt.Errorf("not deterministic: in mode %s the trace of seed %d has the hash %s, and had %s in the matrix", m.Mode, j.Seed, m.TraceHash, want)
		}
	}
	return nil
}
