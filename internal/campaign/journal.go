package campaign

import (
	"errors"
	"fmt"
	"os"

	"locksim/internal/journal"
)

// JournalError is returned by [Campaign.Run] when it cannot continue from its journal,
// or create one. No job was executed. It wraps [ErrJournalExists], a [*PlanError], a
// [*ContradictionError], or the error of reading or writing the file.
type JournalError struct {
	File  string
	Cause error
}

func (e *JournalError) Error() string { return e.Cause.Error() }
func (e *JournalError) Unwrap() error { return e.Cause }

// JournalSuffix is the end of the names of journals.
const JournalSuffix = ".jsonl"

// ErrJournalExists is wrapped by a [*JournalError] about a journal that has results,
// without the option Resume.
var ErrJournalExists = errors.New("there are results of an earlier run")

// openJournal opens the journal of a campaign, and returns the record in it.
func openJournal(c Campaign, opt Options) (*journal.Journal, *Record, error) {
	plan, err := journal.Line(c.Plan)
	if err != nil {
		return nil, nil, err
	}
	h := header{Version: Version, Kind: c.Kind, Jobs: c.Jobs, Asked: c.Asked, Plan: plan}
	first, err := journal.Line(h)
	if err != nil {
		return nil, nil, err
	}
	asked, err := Read("", first)
	if err != nil || opt.Journal == "" {
		return nil, asked, err
	}
	before, err := earlier(opt, asked)
	if err != nil {
		return nil, nil, err
	}
	if before != nil {
		j, err := journal.Open(opt.Journal, before.end)
		return j, before, err
	}
	j, err := journal.Open(opt.Journal, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := j.Add(h); err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return j, asked, nil
}

// earlier is the record in an existing journal, or nil.
func earlier(opt Options, asked *Record) (*Record, error) {
	data, err := os.ReadFile(opt.Journal)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && len(data) == 0:
		return nil, nil
	case err != nil:
		return nil, err
	}
	if !opt.Resume {
		return nil, fmt.Errorf("%s: %w", opt.Journal, ErrJournalExists)
	}
	r, err := Read(opt.Journal, data)
	if errors.Is(err, ErrEmpty) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r, r.samePlan(asked)
}
