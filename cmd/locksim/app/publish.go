package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"locksim/internal/campaign"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/csv"
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
	files []func() (document, error)
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
	*shell
	form      form
	documents []json.RawMessage
	tables    []csv.Table
	printed   int
	problem   error
}

// add publishes a campaign, and stores it in the folder dir unless that is "". An error
// ends the command.
func (p *publication) add(dir string, f finished) error {
	data, err := f.document.JSON()
	if err != nil {
		return &brokenError{cause: err}
	}
	if dir != "" {
		problem, err := f.save(dir, data)
		if err != nil {
			return &brokenError{cause: fmt.Errorf("store the results in %s: %w", dir, err)}
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

// show prints a report, after an empty line if it is not the first.
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
	case asCSV:
		p.tables = append(p.tables, f.csv())
		return nil
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

// moreSevere reports whether error a decides the exit code rather than b. A failure of
// the harness is more severe than any verdict: it makes the verdict unreliable.
func moreSevere(a, b error) bool { return a != nil && (b == nil || isBroken(a) && !isBroken(b)) }

func isBroken(err error) bool {
	_, broken := errors.AsType[*brokenError](err)
	return broken
}

// end prints the documents of --json or the tables of --csv, and returns the error that
// decides the exit code.
func (p *publication) end() error {
	if len(p.tables) > 0 {
		if err := csv.Write(p.out, p.tables...); err != nil {
			return p.print(err)
		}
		return p.problem
	}
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
	to, err := openFolder(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	defer to.close()
	files := f.files
	if f.csv != nil {
		files = append(slices.Clone(files), func() (document, error) { return csvFile(f.kind+".csv", f.csv()) })
	}
	for _, make := range files {
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

// csvFile is a table as a file.
func csvFile(name string, t csv.Table) (document, error) {
	var b bytes.Buffer
	err := csv.Write(&b, t)
	return document{name, b.Bytes()}, err
}

// csvUsage is the usage of --csv.
const csvUsage = "print a table as CSV instead of the report"

// oneForm refuses more than one of the flags that choose a form, by their names.
func oneForm(asked map[string]bool) error {
	var on []string
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if asked[name] {
			on = append(on, name)
		}
	}
	if len(on) > 1 {
		return fmt.Errorf("%s: choose one; --out writes all of them", strings.Join(on, " and "))
	}
	return nil
}

// reportShard prints what a shard has done of a campaign that is not divisible, and the
// command for the next step.
func reportShard(w io.Writer, kind string, shard campaign.Shard, r *campaign.Record, journal, merge string) error {
	_, err := fmt.Fprintf(w, "This is shard %v of a %s: %s of %d done, and stored in %s.\nCombine the shards when all are done: %s\n",
		shard, kind, prose.Count(len(r.Results), "job"), r.Jobs, journal, merge)
	return err
}
