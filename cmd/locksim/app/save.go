package app

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/play"
)

// stored is where a run is stored in its folder.
func stored(dir string) string { return filepath.Join(dir, "run.json") }

// prepare makes the folder for the files of a run, before the run is made. A
// folder that cannot be is the user's to put right.
func prepare(dir string) error {
	if dir == "" {
		return nil
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = tryOut(dir)
	}
	if err != nil {
		return fmt.Errorf("--out %s: %w: give a folder that can be written to", quote(dir), err)
	}
	return nil
}

// tryOut finds out whether files can be written into a folder.
func tryOut(dir string) error {
	name, err := writeBeside(dir, document{name: "run.json"})
	if name != "" {
		_ = os.Remove(name) // it is empty
	}
	return err
}

// file is a file to be written.
type document struct {
	name string
	data []byte
}

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

// writeAll writes each file beside its place and moves them there when all are
// complete. After an error nothing half-written is left.
func writeAll(dir string, files []document) error {
	var written []string
	defer func() {
		for _, name := range written {
			_ = os.Remove(name) // those that were moved are gone from here
		}
	}()
	for _, f := range files {
		name, err := writeBeside(dir, f)
		if name != "" {
			written = append(written, name)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(dir, f.name), err)
		}
	}
	for i, f := range files {
		if err := os.Rename(written[i], filepath.Join(dir, f.name)); err != nil {
			return fmt.Errorf("move %s into its place: %w", f.name, err)
		}
	}
	return nil
}

// writeBeside writes a file under a temporary name, and returns that name as
// soon as there is such a file.
func writeBeside(dir string, f document) (name string, err error) {
	t, err := os.CreateTemp(dir, "."+f.name+"-*")
	if err != nil {
		return "", err
	}
	if _, err = t.Write(f.data); err == nil {
		err = t.Chmod(0o644) // a temporary file is its owner's alone
	}
	if closed := t.Close(); err == nil {
		err = closed
	}
	return t.Name(), err
}
