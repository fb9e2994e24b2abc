package runfolder

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"locksim/checker"
	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/explore"
	"locksim/scenarios/sweep"
)

// quiet is the longest time, on the wall clock, between two changes of the
// journal of a running campaign.
const quiet = 2 * time.Minute

// campaignFile has the fields of the document of an exploration or a sweep that
// an index needs.
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
		NonVacuous int `json:"non_vacuous"`
	} `json:"summary"`
	Timing struct {
		Shard string `json:"shard"`
	} `json:"timing"`
}

// blockFile has the counts of one result, or the sum of all.
type blockFile struct {
	Runs       int                   `json:"runs"`
	Placements int                   `json:"placements"`
	Pairs      int                   `json:"pairs"`
	Violating  int                   `json:"violating"`
	Violations map[checker.Label]int `json:"violations"`
}

// runCount is the number of runs, of an exploration or a sweep.
func (b blockFile) runCount() int { return b.Runs + b.Placements + b.Pairs }

// journalFile has the data of a journal that an index needs.
type journalFile struct {
	lock, scenario, judge string
	jobs                  func(campaign.Shard) int
	done                  int
	sum                   blockFile
}

func readExploration(c *scan, f folder, e *reports.IndexEntry) error {
	return readCampaign(c, f, e, explore.Kind, func(raw json.RawMessage) (journalFile, int, error) {
		p, err := explore.ReadPlan(raw)
		if err != nil {
			return journalFile{}, 0, err
		}
		return journalFile{lock: p.Lock, judge: string(p.Judge)}, p.Jobs(), nil
	})
}

func readSweep(c *scan, f folder, e *reports.IndexEntry) error {
	return readCampaign(c, f, e, sweep.Name, func(raw json.RawMessage) (journalFile, int, error) {
		p, err := sweep.ReadPlan(raw)
		if err != nil {
			return journalFile{}, 0, err
		}
		return journalFile{lock: p.Lock, scenario: p.Scenario, judge: string(p.Judge)}, p.Jobs(), nil
	})
}

// readCampaign reads the document of a campaign, or its journal if there is no
// document yet or the journal has changed since.
func readCampaign(c *scan, f folder, e *reports.IndexEntry, kind string, plan func(json.RawMessage) (journalFile, int, error)) error {
	document, journal := kind+".json", kind+".jsonl"
	var ended time.Time
	if f.has(document) {
		d, changed, err := readCached(c, f, document, func(_ string, data []byte) (d campaignFile, err error) { return d, decode(data, &d) })
		if err != nil {
			return err
		}
		ended = changed
		if err := d.fill(e, kind); err != nil {
			return err
		}
		e.Changed = c.formatTime(ended)
	}
	if !f.has(journal) || f.has(document) && c.Now == nil {
		return nil
	}
	j, changed, err := readCached(c, f, journal, func(name string, data []byte) (journalFile, error) { return readJournal(name, data, plan) })
	if errors.Is(err, campaign.ErrEmpty) { // its first line is not written yet
		j, err = journalFile{lock: path.Base(f.dir), jobs: jobsOf(0)}, nil
	}
	if err != nil || f.has(document) && !changed.After(ended) {
		return err
	}
	j.fill(e, shardOf(f.dir))
	e.Changed = c.formatTime(changed)
	e.Progress.Running = c.Now != nil && c.Now().Sub(changed) < quiet
	return nil
}

// fill sets the fields of an entry from a document.
func (d campaignFile) fill(e *reports.IndexEntry, kind string) error {
	if d.Version != campaign.Version || d.Kind != kind || d.Plan.Lock == "" {
		return fmt.Errorf("not a document of kind %s and version %d: make it again with this version of locksim", kind, campaign.Version)
	}
	e.Lock, e.What = d.Plan.Lock, d.Plan.Scenario
	e.Seed = fmt.Sprintf("from seed %d", d.Plan.FirstSeed)
	if kind == sweep.Name {
		e.Seed = fmt.Sprintf("seed %d", d.Plan.Seed)
	}
	e.Labels = tally(d.Summary.Violations)
	e.Said = d.Summary.result(d.Summary.NonVacuous) + judged(d.Plan.Judge)
	if d.Missing > 0 {
		e.Said += fmt.Sprintf(" %s missing", prose.Count(d.Missing, "job"))
		if d.Timing.Shard != "" {
			e.Said += ": this is shard " + d.Timing.Shard
		}
		e.Said += "."
	}
	return nil
}

// result is the result of the runs as a sentence. evidence is 0 if it is
// unknown.
func (b blockFile) result(evidence int) string {
	text := prose.Count(b.runCount(), "run")
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

// readJournal reads the complete lines of a journal.
func readJournal(name string, data []byte, plan func(json.RawMessage) (journalFile, int, error)) (journalFile, error) {
	r, err := campaign.Read(name, data)
	if err != nil {
		return journalFile{}, err
	}
	j, jobs, err := plan(r.Plan)
	if err != nil {
		return j, err
	}
	j.jobs, j.done, j.sum.Violations = jobsOf(jobs), len(r.Results), map[checker.Label]int{}
	for _, raw := range r.Results {
		var b blockFile
		if err := decode(raw, &b); err != nil {
			return j, err
		}
		j.sum.Runs += b.runCount()
		j.sum.Violating += b.Violating
		for label, n := range b.Violations {
			j.sum.Violations[label] += n
		}
	}
	return j, nil
}

// jobsOf returns a function that counts the jobs of a shard, of the given
// number of all jobs.
func jobsOf(all int) func(campaign.Shard) int {
	return func(s campaign.Shard) int {
		n := 0
		for i := range all {
			if s.Has(i) {
				n++
			}
		}
		return n
	}
}

// shardOf returns the shard that a folder's name denotes, or that of all jobs.
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
func (j journalFile) fill(e *reports.IndexEntry, s campaign.Shard) {
	e.Lock, e.What, e.Seed = j.lock, j.scenario, ""
	e.Labels = tally(j.sum.Violations)
	e.Said = "So far " + j.sum.result(0) + judged(j.judge)
	e.Progress = &reports.IndexProgress{Done: j.done, Jobs: max(j.jobs(s), j.done)}
	switch {
	case j.done == 0:
		e.Said = "No job has come to its end yet."
	case j.done == e.Progress.Jobs:
		e.Said += " All runs are made: violations are being made smaller, and reports written."
	}
}
