package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/csv"
	"locksim/scenarios/play"
)

// Finished is the result of a campaign, in the forms in which it is published.
type Finished struct {
	// Kind is the name of its files.
	Kind string
	// Document is the result as JSON, text as a report for a terminal, and markdown, if
	// the kind has that form, as Markdown.
	Document interface{ JSON() ([]byte, error) }
	Text     func(w io.Writer, opt reports.Options) error
	Markdown func(w io.Writer) error
	// CSV is the result as a table, if the kind has that form; nil otherwise.
	CSV func() csv.Table
	// Files and pages are further files in the folder of the results, if there is one.
	// problem is the error of pages that could not be made.
	Files []func() (outfile.Document, error)
	Pages func(add func(name string, data []byte) error) (problem, err error)
	// WriteExtra writes files outside the folder of the results, also if there is no such
	// folder; nil for none.
	WriteExtra func() error
	// Notes are written to standard error where the report is not printed. opened are
	// files for the user to open, listed at the end of the report.
	Notes  []string
	Opened []string
	// Missing counts the jobs without a result.
	Missing int
	// Problem is the error that decides the exit code; nil for 0.
	Problem error
}

// Form is the form in which a command prints its result.
type Form int

// The forms.
const (
	AsText Form = iota
	AsMarkdown
	AsJSON
	AsCSV
)

// publication prints the results of the campaigns of a command. problem is the most
// severe of their errors, which decides the exit code.
type publication struct {
	*console.Console
	form      Form
	documents []json.RawMessage
	tables    []csv.Table
	printed   int
	// kept are the results of which printAll prints the documents.
	kept    []Finished
	problem error
}

// add publishes a campaign, and stores it in the folder dir unless that is "". What cannot be
// stored is printed all the same: then unstored makes the results that name no folder. An
// error ends the command.
func (p *publication) add(dir string, f Finished, unstored func() (Finished, error)) error {
	data, err := f.Document.JSON()
	if err != nil {
		return &console.BrokenError{Cause: err}
	}
	if dir != "" {
		problem, err := f.save(dir, data)
		if err != nil {
			failure := &console.BrokenError{Cause: fmt.Errorf("store the results in %s: %w", dir, err)}
			if errors.Is(err, context.Canceled) {
				return failure // an interruption: the results are stored, and continue
			}
			if f, err := unstored(); err == nil {
				_ = p.show(f, data) // the failure to store them is the one to report
				_ = p.printAll()
			}
			return failure
		}
		if moreSevere(problem, f.Problem) {
			f.Problem = problem
		}
	}
	if f.WriteExtra != nil {
		if err := f.WriteExtra(); err != nil {
			_ = p.show(f, data)
			_ = p.printAll()
			return &console.BrokenError{Cause: err}
		}
	}
	if moreSevere(f.Problem, p.problem) {
		p.problem = f.Problem
	}
	return p.show(f, data)
}

// show prints a report, after an empty line if it is not the first. Where standard output
// takes none, the report is written to standard error.
func (p *publication) show(f Finished, data []byte) error {
	if p.form != AsText {
		for _, note := range f.Notes {
			p.Note(note)
		}
	}
	var err error
	switch p.form {
	case AsJSON:
		p.documents = append(p.documents, data)
		p.kept = append(p.kept, f)
		return nil
	case AsCSV:
		p.tables = append(p.tables, f.CSV())
		p.kept = append(p.kept, f)
		return nil
	case AsMarkdown:
		err = f.Markdown(p.Out)
	case AsText:
		err = p.showText(p.Out, f, p.Colour(console.IsTerminal))
	}
	if err != nil {
		_ = p.showText(p.Err, f, reports.Plain) // nothing else can take it
	}
	return p.Print(err)
}

func (p *publication) showText(w io.Writer, f Finished, colour reports.Colour) error {
	if p.printed++; p.printed > 1 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	err := f.Text(w, reports.Options{Colour: colour, Unseeded: play.Unseeded()})
	for _, name := range f.Opened {
		if err == nil {
			_, err = fmt.Fprintln(w, name)
		}
	}
	return err
}

// rescue prints what a campaign has found before an error ended it, if it has found something
// and nothing else has it.
func (p *publication) rescue(made func() (Finished, error)) {
	if f, err := made(); err == nil && f.Problem != nil {
		_ = p.showText(p.Out, f, p.Colour(console.IsTerminal)) // the error that ended the campaign is the one to report
	}
}

// moreSevere reports whether error a decides the exit code rather than b. A failure of
// the harness is more severe than any verdict: it makes the verdict unreliable.
func moreSevere(a, b error) bool { return a != nil && (b == nil || isBroken(a) && !isBroken(b)) }

func isBroken(err error) bool {
	_, broken := errors.AsType[*console.BrokenError](err)
	return broken
}

// end prints what is printed as one document, and returns the error that decides the exit
// code.
func (p *publication) end() error {
	if err := p.printAll(); err != nil {
		return err
	}
	return p.problem
}

// printAll prints the documents of --json, or the table of --csv. Where standard output takes
// them not, the reports are written to standard error.
func (p *publication) printAll() error {
	var b bytes.Buffer
	var err error
	switch {
	case p.form == AsCSV && len(p.tables) > 0:
		err = csv.Write(&b, p.tables...)
	case p.form == AsJSON && len(p.documents) == 1:
		_, err = b.Write(p.documents[0])
	case p.form == AsJSON && len(p.documents) > 1:
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(several{Version: 1, Kind: "several", Documents: p.documents})
	}
	if err != nil {
		return &console.BrokenError{Cause: fmt.Errorf("write the results: %w", err)}
	}
	if _, err := p.Out.Write(b.Bytes()); err != nil {
		for _, f := range p.kept {
			_ = p.showText(p.Err, f, reports.Plain) // nothing else can take it
		}
		return p.Print(err)
	}
	return nil
}

// several is the document of a command that ran more than one campaign.
type several struct {
	Version   int               `json:"version"`
	Kind      string            `json:"kind"`
	Documents []json.RawMessage `json:"documents"`
}

// save writes the document, the report and the other files into a folder. The document
// comes last: if it is new, the others are new. problem is that of the pages. After an
// error no file has changed.
func (f Finished) save(dir string, whole []byte) (problem, err error) {
	to, err := outfile.Open(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	defer to.Close()
	files := f.Files
	if f.CSV != nil {
		files = append(slices.Clone(files), func() (outfile.Document, error) { return CSVFile(f.Kind+".csv", f.CSV()) })
	}
	for _, make := range files {
		one, err := make()
		if err == nil {
			err = to.Add(one.Name, one.Data)
		}
		if err != nil {
			return nil, err
		}
	}
	if problem, err = f.Pages(to.Add); err != nil {
		return nil, err
	}
	var report bytes.Buffer
	if err := f.Text(&report, reports.Options{Unseeded: play.Unseeded()}); err != nil {
		return nil, err
	}
	err = errors.Join(to.Add(f.Kind+".txt", report.Bytes()), to.Add(f.Kind+".json", whole))
	if err == nil {
		err = to.Move()
	}
	return problem, err
}

// CSVFile is a table as a file.
func CSVFile(name string, t csv.Table) (outfile.Document, error) {
	var b bytes.Buffer
	err := csv.Write(&b, t)
	return outfile.Document{Name: name, Data: b.Bytes()}, err
}

// reportShard prints what a shard has done of a campaign that is not divisible, and the
// command for the next step.
func reportShard(w io.Writer, kind string, shard campaign.Shard, r *campaign.Record, journal, merge string) error {
	_, err := fmt.Fprintf(w, "This is shard %v of a %s: %s of %d done, and stored in %s.\n"+
		"Combine the shards when all are done: %s\n",
		shard, kind, prose.Count(len(r.Results), "job"), r.Jobs, journal, merge)
	return err
}
