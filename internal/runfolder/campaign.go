package runfolder

import (
	"errors"
	"fmt"
	"path"
	"time"

	"locksim/checker"
	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/reports/index"
	"locksim/scenarios/explore"
	"locksim/scenarios/sweep"
)

// quiet is how long the journal of a campaign at work may stay the same, on the
// wall clock.
const quiet = 2 * time.Minute

// campaignFile is what an index tells of the document of an exploration or a
// sweep.
type campaignFile struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`
	Plan    struct {
		Lock      string `json:"lock"`
		Scenario  string `json:"scenario"`
		Seed      uint64 `json:"seed"`
		FirstSeed uint64 `json:"first_seed"`
		Judge     string `json:"judge"`
	} `json:"plan"`
	Missing int `json:"missing"`
	Summary struct {
		blockFile
		Evidence int `json:"evidence"`
	} `json:"summary"`
	Timing struct {
		Shard string `json:"shard"`
	} `json:"timing"`
}

// blockFile is what is counted of each result, and of all.
type blockFile struct {
	Runs       int                   `json:"runs"`
	Violating  int                   `json:"violating"`
	Violations map[checker.Label]int `json:"violations"`
	// Tallies are those of a matrix.
	Tallies []struct {
		Runs int `json:"runs"`
	} `json:"tallies"`
}

// made is how many runs there were: those of explorations, sweeps or matrices.
func (b blockFile) made() int {
	n := b.Runs
	for _, t := range b.Tallies {
		n += t.Runs
	}
	return n
}

func readExploration(c *scan, f folder, e *index.Entry) error {
	return readCampaign(c, f, e, explore.Kind)
}

func readSweep(c *scan, f folder, e *index.Entry) error {
	return readCampaign(c, f, e, sweep.Kind)
}

// readCampaign reads the document of an exploration or a sweep.
func readCampaign(c *scan, f folder, e *index.Entry, kind string) error {
	d, changed, err := remembered(c, f, kind+".json", func(_ string, data []byte) (d campaignFile, err error) { return d, decode(data, &d) })
	if err != nil {
		return err
	}
	e.Changed = c.moment(changed)
	return d.tell(e, kind)
}

// tell makes an entry of a document.
func (d campaignFile) tell(e *index.Entry, kind string) error {
	if d.Version != campaign.Version || d.Kind != kind || d.Plan.Lock == "" {
		return fmt.Errorf("this is no document of kind %s and version %d: make it again with this version of locksim", kind, campaign.Version)
	}
	e.Lock, e.What = d.Plan.Lock, d.Plan.Scenario
	e.Seed = fmt.Sprintf("from seed %d", d.Plan.FirstSeed)
	if kind == sweep.Kind {
		e.Seed = fmt.Sprintf("seed %d", d.Plan.Seed)
	}
	e.Labels = tally(d.Summary.Violations)
	e.Said = d.Summary.result(d.Summary.Evidence) + judged(d.Plan.Judge)
	if d.Missing > 0 {
		e.Said += fmt.Sprintf(" %s missing", prose.Count(d.Missing, "job"))
		if d.Timing.Shard != "" {
			e.Said += ": this is shard " + d.Timing.Shard
		}
		e.Said += "."
	}
	return nil
}

// result is what came of runs, in a sentence. evidence is 0 where it is not
// known.
func (b blockFile) result(evidence int) string {
	text := prose.Count(b.made(), "run")
	if evidence > 0 {
		text += fmt.Sprintf(", %d of them evidence", evidence)
	}
	if b.Violating == 0 {
		return text + ": no violation, which is no proof."
	}
	return text + fmt.Sprintf(": %s with a violation.", prose.Count(b.Violating, "run"))
}

func judged(by string) string {
	if by == string(explore.JudgePromise) {
		return " Judged by its own promise."
	}
	return ""
}

// journalFile is what an index tells of a journal.
type journalFile struct {
	what, lock, judge string
	jobs, done        int
	sum               blockFile
}

// atWork makes an entry of a journal, where there is no document yet, or the
// journal has gone on since.
func atWork(c *scan, f folder, e *index.Entry, r reader) error {
	var ended time.Time
	if f.has(r.document) {
		info, err := f.files[r.document].Info()
		if err != nil || c.Now == nil {
			return err
		}
		ended = info.ModTime()
	}
	j, changed, err := remembered(c, f, r.journal, readJournal)
	if errors.Is(err, campaign.ErrEmpty) { // it has not come to its first line
		j, err = journalFile{lock: path.Base(f.dir)}, nil
	}
	if err != nil || f.has(r.document) && !changed.After(ended) {
		return err
	}
	j.tell(e, r.kind, shardOf(f.dir))
	e.Changed = c.moment(changed)
	e.Progress.Running = c.Now != nil && c.Now().Sub(changed) < quiet
	return nil
}

// readJournal reads as much of a journal as there is.
func readJournal(name string, data []byte) (journalFile, error) {
	r, err := campaign.Read(name, data)
	if err != nil {
		return journalFile{}, err
	}
	var plan struct {
		Scenario  string                              `json:"scenario"`
		Judge     string                              `json:"judge"`
		Scenarios map[string]struct{ Locks []string } `json:"scenarios"`
	}
	if err := decode(r.Plan, &plan); err != nil {
		return journalFile{}, err
	}
	j := journalFile{what: plan.Scenario, lock: r.Lock(), judge: plan.Judge, jobs: r.Jobs, done: len(r.Results)}
	if len(plan.Scenarios) > 0 {
		locks := map[string]bool{}
		for _, sc := range plan.Scenarios {
			for _, l := range sc.Locks {
				locks[l] = true
			}
		}
		j.what = matrixOf(len(plan.Scenarios), len(locks))
	}
	j.sum.Violations = map[checker.Label]int{}
	for _, raw := range r.Results {
		var b blockFile
		if err := decode(raw, &b); err != nil {
			return j, err
		}
		j.sum.Runs += b.made()
		j.sum.Violating += b.Violating
		for label, n := range b.Violations {
			j.sum.Violations[label] += n
		}
	}
	return j, nil
}

// shardOf is the shard whose folder has such a name, or all of the jobs.
func shardOf(dir string) campaign.Shard {
	var i, n int
	if _, err := fmt.Sscanf(path.Base(dir), "shard-%d-of-%d", &i, &n); err != nil {
		return campaign.Shard{}
	}
	s, err := campaign.NewShard(i, n)
	if err != nil {
		return campaign.Shard{}
	}
	return s
}

// tell makes an entry of a journal.
func (j journalFile) tell(e *index.Entry, kind index.Kind, s campaign.Shard) {
	jobs := 0 // of the shard
	for i := range j.jobs {
		if s.Has(i) {
			jobs++
		}
	}
	e.Lock, e.What, e.Seed = j.lock, j.what, ""
	e.Progress = &index.Progress{Done: j.done, Jobs: max(jobs, j.done)}
	switch {
	case kind == index.Review:
		e.What, e.Lock = "Review of "+j.lock, ""
	case kind == index.Matrix && j.what == "": // it has not begun
		e.What, e.Lock = "Matrix", ""
	}
	searches := kind == index.Exploration || kind == index.Sweep
	switch {
	case searches:
		e.Labels = tally(j.sum.Violations)
		e.Said = "So far " + j.sum.result(0) + judged(j.judge)
	default: // what goes wrong in a run is no violation there
		e.Labels = nil
		e.Said = "So far " + prose.Count(j.sum.Runs, "run") + "."
	}
	switch {
	case j.done == 0:
		e.Said = "No job has come to its end yet."
	case j.done == e.Progress.Jobs && searches:
		e.Said += " All runs are made: violations are being made smaller, and reports written."
	case j.done == e.Progress.Jobs:
		e.Said += " All runs are made."
	}
}
