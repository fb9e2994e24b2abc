package app

import (
	"bytes"
	"io"
	"path/filepath"

	"locksim/reports"
	"locksim/reports/chrome"
	"locksim/reports/junit"
	"locksim/reports/markdown"
	"locksim/reports/terminal"
	"locksim/scenarios/play"
)

// runFile is where a run is stored in its folder.
func runFile(dir string) string { return filepath.Join(dir, "run.json") }

// save writes a run as files: run.json, report.txt, report.html, report.md, the
// traces for a trace viewer, and a trace for each mode. page is how the page is
// rendered, md how the Markdown is.
func save(dir string, o *play.Outcome, opt, page, md reports.Options) error {
	run, err := play.NewRunFile(o).JSON()
	if err != nil {
		return err
	}
	var report bytes.Buffer
	if err := terminal.Run(&report, o, opt); err != nil {
		return err
	}
	html, err := pageFile(o, page)
	if err != nil {
		return err
	}
	chrome, err := chromeFile(o, page)
	if err != nil {
		return err
	}
	markdown, err := markdownFile("report.md", o, md)
	if err != nil {
		return err
	}
	files := []document{html, chrome, markdown}
	for _, m := range o.Modes {
		if m.Trace != nil {
			files = append(files, document{"trace-" + string(m.Mode) + ".jsonl", m.Trace.JSON()})
		}
	}
	// run.json comes last: where it is, the others are complete.
	return writeAll(dir, append(files, document{"report.txt", report.Bytes()}, document{"run.json", run}))
}

// chromeFile is a run for a trace viewer.
func chromeFile(o *play.Outcome, opt reports.Options) (document, error) {
	var b bytes.Buffer
	if err := chrome.Run(&b, o, opt); err != nil {
		return document{}, err
	}
	return document{"trace.chrome.json", b.Bytes()}, nil
}

// markdownOptions are how a run is rendered as Markdown. It names no folder and no
// version of Go, so that the command on its last line prints it again, anywhere.
func (s runs) markdownOptions(o *play.Outcome, repeat play.Repeat) reports.Options {
	return reports.Options{Repeat: repeat, Replay: s.anywhere(o) + " --markdown"}
}

// writeMarkdown writes a run as Markdown.
func (s runs) writeMarkdown(w io.Writer, o *play.Outcome, repeat play.Repeat) error {
	return markdown.Run(w, o, s.markdownOptions(o, repeat))
}

// markdownFile is a run as Markdown in a file.
func markdownFile(name string, o *play.Outcome, opt reports.Options) (document, error) {
	var b bytes.Buffer
	if err := markdown.Run(&b, o, opt); err != nil {
		return document{}, err
	}
	return document{name, b.Bytes()}, nil
}

// saveJUnit writes a run for a CI system, which may read it elsewhere: it says
// nothing of where the run was made.
func (s runs) saveJUnit(name string, o *play.Outcome) error {
	return saveFile(name, func(w io.Writer) error { return junit.Run(w, o, reports.Options{Replay: s.anywhere(o)}) })
}
