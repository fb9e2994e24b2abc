package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/reports"
)

// finished is what a campaign has come to, ready to be published.
type finished struct {
	// kind is what its files are called.
	kind string
	// document is it as JSON, text for people, and markdown, where there is such a
	// form, for people too.
	document interface{ JSON() ([]byte, error) }
	text     func(w io.Writer, opt reports.Options) error
	markdown func(w io.Writer) error
	// files are kept besides, where anything is kept, and so are the pages that a
	// browser shows. problem is that there are fewer pages than there should be.
	files []func() (document, error)
	pages func(add func(name string, data []byte) error) (problem, err error)
	// elsewhere is written whether anything is kept or not. Nil is nothing.
	writeExtra func() error
	// notes say to people what a program reads in the document, opened are the files
	// that are best looked at next.
	notes  []string
	opened []string
	// missing counts the jobs that are not there, and should be.
	missing int
	// problem is what the exit code speaks of; nil is 0.
	problem error
}

// form is how a command prints what it has come to.
type form int

const (
	asText form = iota
	asMarkdown
	asJSON
)

// publication is what a command prints of its campaigns, and the exit code that
// they come to together.
type publication struct {
	*shell
	form      form
	documents []json.RawMessage
	printed   int
	problem   error
}

// add publishes a campaign, and keeps it in a folder unless that is "". The error
// is one that ends the command.
func (p *publication) add(dir string, f finished) error {
	data, err := f.document.JSON()
	if err != nil {
		return &brokenError{cause: err}
	}
	if dir != "" {
		problem, err := f.save(dir, data)
		if err != nil {
			return &brokenError{cause: fmt.Errorf("keep the results in %s: %w", dir, err)}
		}
		if moreSevere(problem, f.problem) {
			f.problem = problem
		}
	}
	if f.writeExtra != nil {
		if err := f.writeExtra(); err != nil {
			return &brokenError{cause: err}
		}
	}
	if moreSevere(f.problem, p.problem) {
		p.problem = f.problem
	}
	return p.print(p.show(f, data))
}

// show prints a report, with a line between it and the one before.
func (p *publication) show(f finished, data []byte) error {
	if p.form != asText {
		for _, note := range f.notes {
			p.note(note)
		}
	}
	switch p.form {
	case asJSON:
		p.documents = append(p.documents, data)
		return nil
	case asMarkdown:
		return f.markdown(p.out)
	}
	if p.printed++; p.printed > 1 {
		if _, err := fmt.Fprintln(p.out); err != nil {
			return err
		}
	}
	err := f.text(p.out, reports.Options{Colour: p.colour(isTerminal)})
	for _, name := range f.opened {
		if err == nil {
			_, err = fmt.Fprintln(p.out, name)
		}
	}
	return err
}

// moreSevere reports whether an error matters more than another: that a result is
// not to be relied on does so more than what the result is.
func moreSevere(a, b error) bool { return a != nil && (b == nil || isBroken(a) && !isBroken(b)) }

func isBroken(err error) bool {
	_, broken := errors.AsType[*brokenError](err)
	return broken
}

// end prints the document, and says what the exit code is to be.
func (p *publication) end() error {
	if p.form != asJSON || len(p.documents) == 0 {
		return p.problem
	}
	text := []byte(p.documents[0])
	if len(p.documents) > 1 {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(several{Version: 1, Kind: "several", Documents: p.documents}); err != nil {
			return &brokenError{cause: fmt.Errorf("write as JSON: %w", err)}
		}
		text = b.Bytes()
	}
	if _, err := p.out.Write(text); err != nil {
		return p.print(err)
	}
	return p.problem
}

// several is the document of a command that did more than one campaign.
type several struct {
	Version   int               `json:"version"`
	Kind      string            `json:"kind"`
	Documents []json.RawMessage `json:"documents"`
}

// save writes the document, the report and the other files into a folder. The
// document comes last: where it is new, the others are. The problem is that of the
// pages; after an error nothing is changed.
func (f finished) save(dir string, whole []byte) (problem, err error) {
	to, err := openFolder(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	defer to.close()
	for _, make := range f.files {
		one, err := make()
		if err == nil {
			err = to.add(one.name, one.data)
		}
		if err != nil {
			return nil, err
		}
	}
	if problem, err = f.pages(to.add); err != nil {
		return nil, err
	}
	var report bytes.Buffer
	if err := f.text(&report, reports.Options{}); err != nil {
		return nil, err
	}
	err = errors.Join(to.add(f.kind+".txt", report.Bytes()), to.add(f.kind+".json", whole))
	if err == nil {
		err = to.move()
	}
	return problem, err
}

// reportShard says what a shard has done of a campaign of which no part can be
// shown, and what comes next.
func reportShard(w io.Writer, kind string, shard campaign.Shard, r *campaign.Record, journal, merge string) error {
	_, err := fmt.Fprintf(w, "This is shard %v of a %s: %s of %d done, and kept in %s.\nPut the shards together when all are done: %s\n",
		shard, kind, prose.Count(len(r.Results), "job"), r.Jobs, journal, merge)
	return err
}
