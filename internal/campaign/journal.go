package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

// journal is a file to which results are appended. The methods of nil do nothing.
type journal struct {
	file *os.File
}

// openJournal opens the journal of a campaign, and returns the record in it.
func openJournal(c Campaign, opt Options) (*journal, *Record, error) {
	plan, err := marshal(c.Plan)
	if err != nil {
		return nil, nil, err
	}
	first, err := marshal(header{Version: Version, Kind: c.Kind, Jobs: c.Jobs, Asked: c.Asked, Plan: plan})
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
	f, err := os.OpenFile(opt.Journal, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, err
	}
	j := &journal{file: f}
	if before == nil {
		before = asked
		err = errors.Join(j.cut(0), j.append(first))
	} else {
		err = j.cut(before.end)
	}
	if err != nil {
		return nil, nil, errors.Join(err, j.close())
	}
	return j, before, nil
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

// marshal is a value as a line of JSON.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write as JSON: %w", err)
	}
	return b.Bytes(), nil
}

// write appends a line. When write returns, the line is on disk.
func (j *journal) write(l line) error {
	if j == nil {
		return nil
	}
	text, err := marshal(l)
	if err != nil {
		return err
	}
	return j.append(text)
}

func (j *journal) append(text []byte) error {
	if _, err := j.file.Write(text); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return j.file.Sync()
}

// cut truncates the file to a length, so that appending continues there.
func (j *journal) cut(end int64) error {
	if err := j.file.Truncate(end); err != nil {
		return err
	}
	_, err := j.file.Seek(end, 0)
	return err
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
