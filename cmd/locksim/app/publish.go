package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"locksim/reports"
)

// finished is what a campaign has come to, ready to be published.
type finished struct {
	// kind is what its files are called.
	kind string
	// document is it as JSON, text for people.
	document interface{ JSON() ([]byte, error) }
	text     func(w io.Writer, opt reports.Options) error
	// files are kept besides, where anything is kept.
	files []func() (document, error)
	// pages are what a browser shows of it, and are kept too.
	pages func() ([]document, error)
	// notes say to people what a program reads in the document.
	notes []string
	// problem is what the exit code speaks of; nil is 0.
	problem error
}

// publication is what a command prints of its campaigns, and the exit code that
// they come to together.
type publication struct {
	*shell
	json      bool
	documents []json.RawMessage
	printed   int
	problem   error
}

// add publishes a campaign, and keeps it in a folder unless that is "". The error
// is one that ends the command.
func (p *publication) add(dir string, f finished) error {
	if graver(f.problem, p.problem) {
		p.problem = f.problem
	}
	data, err := f.document.JSON()
	if err != nil {
		return &brokenError{cause: err}
	}
	if dir != "" {
		if err := f.save(dir, data); err != nil {
			return &brokenError{cause: fmt.Errorf("keep the results in %s: %w", dir, err)}
		}
	}
	if p.json {
		for _, note := range f.notes {
			p.note(note)
		}
		p.documents = append(p.documents, data)
		return nil
	}
	return p.print(p.show(f))
}

// show prints a report, with a line between it and the one before.
func (p *publication) show(f finished) error {
	if p.printed++; p.printed > 1 {
		if _, err := fmt.Fprintln(p.out); err != nil {
			return err
		}
	}
	return f.text(p.out, reports.Options{Colour: p.colour(isTerminal)})
}

// graver reports whether an error matters more than another: that a result is
// not to be relied on does so more than what the result is.
func graver(a, b error) bool {
	_, aBroken := errors.AsType[*brokenError](a)
	_, bBroken := errors.AsType[*brokenError](b)
	return a != nil && (b == nil || aBroken && !bBroken)
}

// end prints the document, and says what the exit code is to be.
func (p *publication) end() error {
	if !p.json {
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
// document comes last: where it is, the others are complete.
func (f finished) save(dir string, whole []byte) error {
	var report bytes.Buffer
	if err := f.text(&report, reports.Options{}); err != nil {
		return err
	}
	var files []document
	for _, make := range f.files {
		one, err := make()
		if err != nil {
			return err
		}
		files = append(files, one)
	}
	pages, err := f.pages()
	if err != nil {
		return err
	}
	files = append(append(files, pages...), document{f.kind + ".txt", report.Bytes()}, document{f.kind + ".json", whole})
	if err := prepare(dir); err != nil {
		return err
	}
	return writeAll(filepath.Clean(dir), files)
}
