package reach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"locksim/internal/campaign"
	"locksim/internal/journal"
)

// result has the searches for one subject.
type result struct {
	// Made identifies the mutant and the limits, apart from the number of first seeds. Program identifies the program
	// without a mistake, and Commit names it for the reader. The result depends on both.
	Made    string       `json:"made"`
	Program string       `json:"program"`
	Commit  string       `json:"commit"`
	Kinds   []kindResult `json:"kinds,omitempty"`
	// Searches are those for a mechanical mutant, in the order in which they were made.
	Searches []searched `json:"searches,omitempty"`
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
	return r.find() >= 0
}

// find is the index of the first search for a mechanical mutant that found it; -1 without one.
func (r result) find() int {
	return slices.IndexFunc(r.Searches, func(s searched) bool { return s.found.found() })
}

// explored reports whether a mutant was found from each of so many first seeds, in one kind of lock.
func (r result) explored(starts int) bool {
	from := map[string]int{} // the number of first seeds by kind
	for _, k := range r.Kinds {
		for _, f := range k.Explore {
			if f.found() {
				from[k.Kind]++
			}
		}
	}
	for _, s := range r.Searches {
		if s.explores() && s.found.found() {
			from[s.Kind]++
		}
	}
	return slices.Contains(slices.Collect(maps.Values(from)), starts)
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

// store is the file of the results: a JSON document on each line, with the name of its subject. Of two lines for one
// subject the later one counts. Several programs may add lines at the same time, and files can be put together by cat.
type store struct {
	file    string
	program string // see identify
	commit  string
	earlier bool // results of earlier programs are kept
	limits  limits

	journal *journal.Journal[line] // of the file
	known   map[string]result      // by name
}

// line is a line of the file.
type line struct {
	Name string `json:"name"`
	result
}

// open reads the file, which may be missing. A line that was cut off is skipped: its result is made again.
func (f *store) open() (err error) {
	if f.journal, err = journal.Open[line](f.file); err != nil {
		return err
	}
	f.known = map[string]result{}
	for _, l := range f.journal.Made() {
		f.known[l.Name] = l.result
	}
	return nil
}

// made is what a result of the subject depends on besides the program.
func (f *store) made(s subject) (string, error) {
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
func (f *store) read(s subject) (r result, ok bool, err error) {
	r, ok = f.known[s.name]
	if !ok {
		return r, false, nil
	}
	made, err := f.made(s)
	if err != nil || r.Made != made || r.Program != f.program && !f.earlier {
		return result{}, false, err
	}
	r.Kinds, r.Searches = slices.Clone(r.Kinds), slices.Clone(r.Searches)
	for i, k := range r.Kinds { // it may have been made with more first seeds
		r.Kinds[i].Explore = slices.Clone(k.Explore[:min(len(k.Explore), s.starts(f.limits))])
	}
	r.Searches = slices.DeleteFunc(r.Searches, func(m searched) bool { return m.Start >= s.starts(f.limits) })
	return r, s.complete(r), nil
}

// write adds the result of a subject to the file, in one write.
func (f *store) write(s subject, r result) error {
	made, err := f.made(s)
	if err != nil {
		return err
	}
	r.Made, r.Program, r.Commit = made, f.program, f.commit
	f.known[s.name] = r
	return f.journal.Add(line{s.name, r})
}

// sort writes the file anew, with one line for each name, in the order of the names, and those that other programs have
// added meanwhile.
func (f *store) sort() error {
	if err := errors.Join(f.journal.Close(), f.open()); err != nil {
		return err
	}
	if err := f.journal.Close(); err != nil {
		return err
	}
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(f.known)) {
		b, err := json.Marshal(line{name, f.known[name]})
		if err != nil {
			return err
		}
		text.Write(append(b, '\n'))
	}
	part := f.file + ".part"
	if err := os.WriteFile(part, text.Bytes(), 0o644); err != nil {
		return err
	}
	if err := os.Rename(part, f.file); err != nil {
		return err
	}
	return f.open()
}

// search adds to the result of a subject what is missing.
type search func(ctx context.Context, s subject, r *result, keep func() error) error

// fill makes the results of a shard that the file does not have. The order of
// the subjects decides which of them are in the shard.
func (f *store) fill(ctx context.Context, all []subject, shard campaign.Shard, make search, progress io.Writer) error {
	var todo []subject
	for i, s := range all {
		r, ok, err := f.read(s)
		if err != nil {
			return err
		}
		if shard.Has(i) && !(ok && s.ended(r, f.limits)) {
			todo = append(todo, s)
		}
	}
	for i, s := range todo {
		began := time.Now()
		r, _, err := f.read(s)
		if err != nil {
			return err
		}
		if r.Program != f.program { // searches of an earlier program do not mix with those of this one
			r = result{}
		}
		if err := make(ctx, s, &r, func() error { return f.write(s, r) }); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := f.write(s, r); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(progress, "%d of %d: %s: %s, %v\n", i+1, len(todo), s.name, outcome(s, r), time.Since(began).Round(time.Second))
	}
	return nil
}

// results returns the results of all subjects, in their order, and the names of those
// that have none.
func (f *store) results(all []subject) (list []row, missing []string, err error) {
	for _, s := range all {
		r, ok, err := f.read(s)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			missing = append(missing, s.name)
			continue
		}
		list = append(list, row{s, r, r.Program != f.program})
	}
	return list, missing, nil
}
