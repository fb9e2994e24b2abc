// Package runfiles writes a run as files, and the commands that make a run again.
package runfiles

import (
	"bytes"
	"io"
	"path/filepath"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/reports"
	"locksim/reports/chrome"
	"locksim/reports/junit"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/records"
)

// Path is the file of a run stored in a folder.
func Path(dir string) string { return filepath.Join(dir, "run.json") }

// Save writes a run as files: run.json, its record in run.records.gz, report.txt, report.html, report.md,
// trace.chrome.json for a trace viewer, and a trace for each mode. opt are the options
// of the text report, page of the HTML page, md of the Markdown.
func Save(dir string, o *outcome.Outcome, opt, page, md reports.Options) error {
	run, err := outcome.NewRunFile(o).JSON()
	if err != nil {
		return err
	}
	var report bytes.Buffer
	if err := terminal.Run(&report, o, opt); err != nil {
		return err
	}
	html, err := Page(o, page)
	if err != nil {
		return err
	}
	chrome, err := chromeFile(o, page)
	if err != nil {
		return err
	}
	markdown, err := Markdown("report.md", o, md)
	if err != nil {
		return err
	}
	record, err := records.File(o)
	if err != nil {
		return err
	}
	files := []outfile.Document{html, chrome, markdown, {Name: records.Beside("run.json"), Data: record}}
	for _, m := range o.Modes {
		if m.Trace != nil {
			files = append(files, outfile.Document{Name: "trace-" + string(m.Mode) + ".jsonl", Data: m.Trace.JSON()})
		}
	}
	// run.json comes last: if it exists, the others are complete.
	return outfile.WriteAll(dir, append(files,
		outfile.Document{Name: "report.txt", Data: report.Bytes()}, outfile.Document{Name: "run.json", Data: run}))
}

// chromeFile is a run as a file for a trace viewer.
func chromeFile(o *outcome.Outcome, opt reports.Options) (outfile.Document, error) {
	var b bytes.Buffer
	if err := chrome.Run(&b, o, opt); err != nil {
		return outfile.Document{}, err
	}
	return outfile.Document{Name: "trace.chrome.json", Data: b.Bytes()}, nil
}

// MarkdownOptions are the options of the Markdown of a run. They name no folder and no
// version of Go, so that the command on its last line prints the same text anywhere.
func MarkdownOptions(c *console.Console, o *outcome.Outcome, repeat outcome.Repeat) reports.Options {
	return reports.Options{Repeat: repeat, Replay: publicCommand(c, o) + " --markdown"}
}

// WriteMarkdown writes a run as Markdown.
func WriteMarkdown(c *console.Console, w io.Writer, o *outcome.Outcome, repeat outcome.Repeat) error {
	return markdown.Run(w, o, MarkdownOptions(c, o, repeat))
}

// Markdown is a run as Markdown in a file.
func Markdown(name string, o *outcome.Outcome, opt reports.Options) (outfile.Document, error) {
	var b bytes.Buffer
	if err := markdown.Run(&b, o, opt); err != nil {
		return outfile.Document{}, err
	}
	return outfile.Document{Name: name, Data: b.Bytes()}, nil
}

// SaveJUnit writes a run as JUnit XML. A CI system may show it on another machine, so
// its replay command names no local folder.
func SaveJUnit(c *console.Console, name string, o *outcome.Outcome) error {
	return outfile.Save(name, func(w io.Writer) error {
		return junit.Run(w, o, reports.Options{Replay: publicCommand(c, o)})
	})
}
