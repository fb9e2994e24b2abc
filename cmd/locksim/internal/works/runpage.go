package works

import (
	"fmt"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/roster"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
)

// runPageJob is the job of a child that repeats a run and writes its page.
type runPageJob struct {
	// File and Source are those of the scenario.
	File   string       `json:"file"`
	Source string       `json:"source"`
	Lock   string       `json:"lock"`
	Seed   uint64       `json:"seed"`
	Modes  []fence.Mode `json:"modes"`
	// Hashes are the known hashes of the traces of the first run.
	Hashes map[fence.Mode]string `json:"hashes"`
	Links  []reports.Link        `json:"links"`
}

// runPage repeats the run, and fails if a trace differs.
func runPage(c *console.Console, r roster.Roster, j runPageJob) (publish.Page, error) {
	sc, err := file.Parse(j.File, []byte(j.Source), r.ServerNames()...)
	if err != nil {
		return publish.Page{}, err
	}
	l, err := redislocks.Find(j.Lock, r.Extra)
	if err != nil {
		return publish.Page{}, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: j.Seed, Modes: j.Modes})
	if err != nil {
		return publish.Page{}, err
	}
	repeated := outcome.Twice // by the matrix, and here
	for _, m := range o.Modes {
		want, known := j.Hashes[m.Mode]
		if known && m.TraceHash != want {
			return publish.Page{}, fmt.Errorf("not deterministic: in mode %s the trace of seed %d has the hash %s, but %s in "+
				"the matrix", m.Mode, j.Seed, m.TraceHash, want)
		}
		if m.Trace != nil && want == "" {
			repeated = outcome.Once
		}
	}
	opt := runfiles.PageOptions(c, o, l, repeated)
	opt.Links = j.Links
	made, err := runfiles.Page(o, opt)
	return publish.Page{HTML: made.Data}, err
}
