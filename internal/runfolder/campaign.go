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
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/sweeps"
)

// idleLimit is the wall-clock time after the last change of its journal for which a
// campaign counts as running.
const idleLimit = 2 * time.Minute

// campaignFile has the fields of the document of an exploration or a sweep that
// an index shows.
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

// blockFile has the counts of one result or of the whole campaign.
type blockFile struct {
	Runs       int                   `json:"runs"`
	Violating  int                   `json:"violating"`
	Violations map[checker.Label]int `json:"violations"`
	// Tallies are set in the results of a matrix only.
	Tallies []struct {
		Runs int `json:"runs"`
	} `json:"tallies"`
}

// made is the number of runs of an exploration, a sweep or a matrix.
func (b blockFile) totalRuns() int {
	n := b.Runs
	for _, t := range b.Tallies {
		n += t.Runs
	}
	return n
}

func readExploration(c *scan, f folder, e *index.Entry) error {
	return readCampaign(c, f, e, explorations.Kind)
}

func readSweep(c *scan, f folder, e *index.Entry) error {
	return readCampaign(c, f, e, sweeps.Kind)
}

// readCampaign reads the document of an exploration or a sweep.
func readCampaign(c *scan, f folder, e *index.Entry, kind string) error {
	d, changed, err := readCached(c, f, kind+".json", func(_ string, data []byte) (d campaignFile, err error) {
		return d,
			decode(data, &d)
	})
	if err != nil {
		return err
	}
	e.Changed = c.timeText(changed)
	return d.fill(e, kind)
}

// fill sets the fields of an entry from a document.
func (d campaignFile) fill(e *index.Entry, kind string) error {
	if d.Version != campaign.Version || d.Kind != kind || d.Plan.Lock == "" {
		return fmt.Errorf("not a document of kind %s and version %d: make it again with this version of locksim", kind,
			campaign.Version)
	}
	e.Lock, e.What = d.Plan.Lock, d.Plan.Scenario
	e.Seed = fmt.Sprintf("from seed %d", d.Plan.FirstSeed)
	if kind == sweeps.Kind {
		e.Seed = fmt.Sprintf("seed %d", d.Plan.Seed)
	}
	e.Labels = sortedLabels(d.Summary.Violations)
	e.Result = d.Summary.result(d.Summary.Evidence) + judgedText(d.Plan.Judge)
	if d.Missing > 0 {
		e.Result += fmt.Sprintf(" %s missing", prose.Count(d.Missing, "job"))
		if d.Timing.Shard != "" {
			e.Result += ": this is shard " + d.Timing.Shard
		}
		e.Result += "."
	}
	return nil
}

// result is the result of the runs in a sentence. evidence is 0 where it is not
// known.
func (b blockFile) result(evidence int) string {
	text := prose.Count(b.totalRuns(), "run")
	if evidence > 0 {
		text += fmt.Sprintf(", %d of them tested the lock", evidence)
	}
	if b.Violating == 0 {
		return text + ": no violation. This is not a proof."
	}
	return text + fmt.Sprintf(": %s with a violation.", prose.Count(b.Violating, "run"))
}

func judgedText(by string) string {
	switch explorations.Judge(by) {
	case explorations.JudgePromise:
		return " Judged by its own promise."
	case explorations.JudgeClaims:
		return " Judged by its claims alone."
	}
	return ""
}

// journalFile has what an index shows of a journal.
type journalFile struct {
	what, lock, judge string
	jobs, done        int
	sum               blockFile
}

// readUnfinished fills an entry from a journal that has no document yet, or that
// has changed after its document was written.
func readUnfinished(c *scan, f folder, e *index.Entry, r reader) error {
	var ended time.Time
	if f.has(r.document) {
		info, err := f.files[r.document].Info()
		if err != nil || c.Now == nil {
			return err
		}
		ended = info.ModTime()
	}
	j, changed, err := readCached(c, f, r.journal, readJournal)
	if errors.Is(err, campaign.ErrEmpty) { // the first line is not written yet
		j, err = journalFile{lock: path.Base(f.dir)}, nil
	}
	if err != nil || f.has(r.document) && !changed.After(ended) {
		return err
	}
	j.fill(e, r.kind, shardOf(f.dir))
	e.Changed = c.timeText(changed)
	e.Progress.Running = c.Now != nil && c.Now().Sub(changed) < idleLimit
	return nil
}

// readJournal reads the lines that a journal has so far.
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
		j.sum.Runs += b.totalRuns()
		j.sum.Violating += b.Violating
		for label, n := range b.Violations {
			j.sum.Violations[label] += n
		}
	}
	return j, nil
}

// shardOf is the shard that the name of a folder stands for, or all jobs for any
// other name.
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

// fill sets the fields of an entry from a journal.
func (j journalFile) fill(e *index.Entry, kind index.Kind, s campaign.Shard) {
	e.Lock, e.What, e.Seed = j.lock, j.what, ""
	e.Progress = &index.Progress{Done: j.done, Jobs: max(s.Of(j.jobs), j.done)}
	switch {
	case kind == index.Review:
		e.What, e.Lock = "Review of "+j.lock, ""
	case kind == index.Matrix && j.what == "": // the plan is not written yet
		e.What, e.Lock = "Matrix", ""
	}
	searches := kind == index.Exploration || kind == index.Sweep
	switch {
	case searches:
		e.Labels = sortedLabels(j.sum.Violations)
		e.Result = "So far " + j.sum.result(0) + judgedText(j.judge)
	default: // a matrix and a review do not count violations while they run
		e.Labels = nil
		e.Result = "So far " + prose.Count(j.sum.Runs, "run") + "."
	}
	switch {
	case j.done == 0:
		e.Result = "No job has finished yet."
	case j.done == e.Progress.Jobs && searches:
		e.Result += " All runs are finished: locksim shrinks the violations and writes the reports."
	case j.done == e.Progress.Jobs:
		e.Result += " All runs are finished."
	}
}
