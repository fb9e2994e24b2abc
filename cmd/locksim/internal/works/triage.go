package works

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/publish"
	"locksim/internal/campaign"
	"locksim/reports/junit"
	"locksim/scenarios/explore"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/triage"
)

// ReadHistory reads what a folder knows of earlier explorations. A folder without the file knows nothing yet.
func ReadHistory(folder string) (*triage.History, error) {
	name := filepath.Join(folder, triage.FileName)
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &triage.History{Version: triage.Version, Kind: triage.Kind}, nil
	case err != nil:
		return nil, err
	}
	return triage.Read(name, data)
}

// triage compares an exploration with those that the folder Against knows, and returns what writes the folder's memory.
// An exploration with missing results is not compared.
func (x *Exploration) triage(r *publish.Results, e *explorations.Exploration) (write func() error, err error) {
	if x.Against == "" || e.Missing > 0 {
		return nil, nil
	}
	h, err := ReadHistory(x.Against)
	if err != nil {
		return nil, err
	}
	public := &Exploration{Console: x.Public(), Plan: x.Plan}
	replay := func(f *failure.Failure) string { return public.again(f.Seed) }
	s, err := h.Take(e.Plan.Lock, string(e.Plan.Judge), e.Summary.Failures, replay,
		func(runs []*outcome.RunFile) ([]bool, []error, error) {
			return playAgain(r.Crew, e.Plan.Judge, runs)
		})
	if err != nil {
		return nil, err
	}
	e.Triage = s.Brief()
	return func() error {
		data, err := h.JSON()
		if err == nil {
			err = outfile.WriteAll(x.Against, []outfile.Document{{Name: triage.FileName, Data: data}})
		}
		if err != nil {
			return fmt.Errorf("write the memory of %s: %w", x.Against, err)
		}
		return outfile.Save(x.JUnit, func(w io.Writer) error { return junit.Triage(w, h) })
	}, nil
}

// playAgain plays runs in child processes and reports which of them still break the lock.
func playAgain(c *publish.Crew, judge explorations.Judge,
	runs []*outcome.RunFile) (fails []bool, problems []error, err error) {
	fails, problems = make([]bool, len(runs)), make([]error, len(runs))
	jobs := make([]campaign.Job, len(runs))
	for i, run := range runs {
		jobs[i] = againTask.Job(explore.Again{Run: run, Judge: judge})
		jobs[i].Noun, jobs[i].Count = "known violations played again", 1
	}
	defer c.Progress.Clear()
	err = c.Do(jobs, func(i int, answer json.RawMessage, err error) error {
		if err == nil {
			err = json.Unmarshal(answer, &fails[i])
		}
		problems[i] = err
		return nil
	})
	return fails, problems, err
}
