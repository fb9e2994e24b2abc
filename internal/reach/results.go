package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"locksim/internal/campaign"
)

// result has the searches for one subject.
type result struct {
	// Made identifies the mutant and the limits, apart from the number of first seeds. Program identifies the program
	// without a mistake, and Commit names it for the reader. The result depends on both.
	Made    string       `json:"made"`
	Program string       `json:"program"`
	Commit  string       `json:"commit"`
	Kinds   []kindResult `json:"kinds"`
	// Unbuilt is why the mutant does not compile. It has no results then.
	Unbuilt string `json:"unbuilt,omitempty"`
}

// found reports whether the mistake was found in any kind.
func (r result) found() bool {
	for _, k := range r.Kinds {
		if k.found() {
			return true
		}
	}
	return false
}

// clean reports whether all commands exited with 0, as they must with a right lock.
func (r result) clean() bool {
	for _, k := range r.Kinds {
		for _, f := range append([]found{k.Library, k.Sweep}, k.Explore...) {
			if f.Exit != 0 {
				return false
			}
		}
	}
	return true
}

// folder has a file for each subject with a result.
type folder struct {
	dir     string
	program string // see identify
	commit  string
	earlier bool // results of earlier programs are kept
	limits  limits
}

func (f folder) file(s subject) string {
	return filepath.Join(f.dir, strings.ReplaceAll(s.name, "/", "-")+".json")
}

// made is what a result of the subject depends on besides the program.
func (f folder) made(s subject) (string, error) {
	l := f.limits
	l.Starts = 0
	b, err := json.Marshal([]any{l, s.kinds, s.source()})
	return digest(b), err
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// read returns the result of a subject. ok is false if it is not complete: it then has what is still right of it.
func (f folder) read(s subject) (r result, ok bool, err error) {
	b, err := os.ReadFile(f.file(s))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, false, fmt.Errorf("%s is no result: %w; delete it, and it is made again", f.file(s), err)
	}
	made, err := f.made(s)
	if err != nil || r.Made != made || r.Program != f.program && !f.earlier {
		return result{}, false, err
	}
	for i, k := range r.Kinds { // it may have been made with more first seeds
		r.Kinds[i].Explore = k.Explore[:min(len(k.Explore), s.starts(f.limits))]
	}
	return r, s.complete(r, f.limits), nil
}

// write stores a result: whole, or not at all.
func (f folder) write(s subject, r result) error {
	made, err := f.made(s)
	if err != nil {
		return err
	}
	r.Made, r.Program, r.Commit = made, f.program, f.commit
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	part := f.file(s) + ".part"
	if err := os.WriteFile(part, append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(part, f.file(s))
}

// search adds to the result of a subject what is missing.
type search func(ctx context.Context, s subject, r *result) error

// fill makes the results of a shard that the folder does not have. The order of
// the subjects decides which of them are in the shard.
func (f folder) fill(ctx context.Context, all []subject, shard campaign.Shard, make search, progress io.Writer) error {
	var todo []subject
	for i, s := range all {
		_, ok, err := f.read(s)
		if err != nil {
			return err
		}
		if !ok && shard.Has(i) {
			todo = append(todo, s)
		}
	}
	for i, s := range todo {
		began := time.Now()
		r, _, err := f.read(s)
		if err != nil {
			return err
		}
		if err := make(ctx, s, &r); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := f.write(s, r); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(progress, "%d of %d: %s: %s, %v\n", i+1, len(todo), s.name, outcome(s, r), time.Since(began).Round(time.Second))
	}
	return nil
}

// results returns the results of all subjects, in their order, and the number of those
// that have none.
func (f folder) results(all []subject) (list []row, missing int, err error) {
	for _, s := range all {
		r, ok, err := f.read(s)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			missing++
			continue
		}
		list = append(list, row{s, r, r.Program != f.program})
	}
	return list, missing, nil
}
