package app

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

// finished is the result of a campaign, in the forms in which it is published.
type finished struct {
	// kind is the name of its files.
	kind string
	// document is the result as JSON, text as a report for a terminal, and markdown, if
	// the kind has that form, as Markdown.
	document interface{ JSON() ([]byte, error) }
	text     func(w io.Writer, opt reports.Options) error
	markdown func(w io.Writer) error
	// csv is the result as a table, if the kind has that form; nil otherwise.
	csv func() csv.Table
	// files and pages are further files in the folder of the results, if there is one.
	// problem is the error of pages that could not be made.
	files []func() (outfile.Document, error)
	pages func(add func(name string, data []byte) error) (problem, err error)
	// writeExtra writes files outside the folder of the results, also if there is no such
	// folder; nil for none.
	writeExtra func() error
	// notes are written to standard error where the report is not printed. opened are
	// files for the user to open, listed at the end of the report.
	notes  []string
	opened []string
	// missing counts the jobs without a result.
	missing int
	// problem is the error that decides the exit code; nil for 0.
	problem error
}

// form is the form in which a command prints its result.
type form int

const (
	asText form = iota
	asMarkdown
	asJSON
	asCSV
)

// publication prints the results of the campaigns of a command. problem is the most
// severe of their errors, which decides the exit code.
type publication struct {
	*console.Console
	form      form
	documents []json.RawMessage
	tables    []csv.Table
	printed   int
	// kept are the results of which printAll prints the documents.
	kept    []finished
	problem error
}

// add publishes a campaign, and stores it in the folder dir unless that is "". What cannot be
// stored is printed all the same: then unstored makes the results that name no folder. An
// error ends the command.
func (p *publication) add(dir string, f finished, unstored func() (finished, error)) error {
	data, err := f.document.JSON()
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
		if moreSevere(problem, f.problem) {
			f.problem = problem
		}
	}
	if f.writeExtra != nil {
		if err := f.writeExtra(); err != nil {
			_ = p.show(f, data)
			_ = p.printAll()
			return &console.BrokenError{Cause: err}
		}
	}
	if moreSevere(f.problem, p.problem) {
		p.problem = f.problem
	}
	return p.show(f, data)
}

// show prints a report, after an empty line if it is not the first. Where standard output
// takes none, the report is written to standard error.
func (p *publication) show(f finished, data []byte) error {
	if p.form != asText {
		for _, note := range f.notes {
			p.Note(note)
		}
	}
	var err error
	switch p.form {
	case asJSON:
		p.documents = append(p.documents, data)
		p.kept = append(p.kept, f)
		return nil
	case asCSV:
		p.tables = append(p.tables, f.csv())
		p.kept = append(p.kept, f)
		return nil
	case asMarkdown:
		err = f.markdown(p.Out)
	case asText:
		err = p.showText(p.Out, f, p.Colour(console.IsTerminal))
	}
	if err != nil {
		_ = p.showText(p.Err, f, reports.Plain) // nothing else can take it
	}
	return p.Print(err)
}

// showText writes a report as text.
func (p *publication) showText(w io.Writer, f finished, colour reports.Colour) error {
	if p.printed++; p.printed > 1 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	err := f.text(w, reports.Options{Colour: colour, Unseeded: play.Unseeded()})
	for _, name := range f.opened {
		if err == nil {
			_, err = fmt.Fprintln(w, name)
		}
	}
	return err
}

// rescue prints what a campaign has found before an error ended it, if it has found something
// and nothing else has it.
func (p *publication) rescue(made func() (finished, error)) {
	if f, err := made(); err == nil && f.problem != nil {
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
	case p.form == asCSV && len(p.tables) > 0:
		err = csv.Write(&b, p.tables...)
	case p.form == asJSON && len(p.documents) == 1:
		_, err = b.Write(p.documents[0])
	case p.form == asJSON && len(p.documents) > 1:
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
func (f finished) save(dir string, whole []byte) (problem, err error) {
	to, err := outfile.Open(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	defer to.Close()
	files := f.files
	if f.csv != nil {
		files = append(slices.Clone(files), func() (outfile.Document, error) { return csvFile(f.kind+".csv", f.csv()) })
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
	if problem, err = f.pages(to.Add); err != nil {
		return nil, err
	}
	var report bytes.Buffer
	if err := f.text(&report, reports.Options{Unseeded: play.Unseeded()}); err != nil {
		return nil, err
	}
	err = errors.Join(to.Add(f.kind+".txt", report.Bytes()), to.Add(f.kind+".json", whole))
	if err == nil {
		err = to.Move()
	}
	return problem, err
}

// csvFile is a table as a file.
func csvFile(name string, t csv.Table) (outfile.Document, error) {
	var b bytes.Buffer
	err := csv.Write(&b, t)
	return outfile.Document{Name: name, Data: b.Bytes()}, err
}

// reportShard prints what a shard has done of a campaign that is not divisible, and the
// command for the next step.
func reportShard(w io.Writer, kind string, shard campaign.Shard, r *campaign.Record, journal, merge string) error {
	_, err := fmt.Fprintf(w, "This is shard %v of a %s: %s of %d done, and stored in %s.\nCombine the shards when all are done: %s\n",
		shard, kind, prose.Count(len(r.Results), "job"), r.Jobs, journal, merge)
	return err
}
