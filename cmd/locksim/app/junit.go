package app

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"locksim/reports"
	"locksim/reports/junit"
	"locksim/scenarios/play"
)

// prepareFile finds out, before a run is made, whether a file can be written. One
// that cannot be is the user's to put right.
func prepareFile(flag, name string) error {
	if name == "" {
		return nil
	}
	err := tryOut(filepath.Dir(name))
	if info, statErr := os.Stat(name); err == nil && statErr == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", quote(name))
	}
	if err != nil {
		return fmt.Errorf("--%s %s: %w: give a file in a folder that can be written to", flag, quote(name), err)
	}
	return nil
}

// saveJUnit writes a run for a CI system, which may read it elsewhere: it says
// nothing of where the run was made.
func (s runs) saveJUnit(name string, o *play.Outcome) error {
	return saveFile(name, func(w io.Writer) error { return junit.Run(w, o, reports.Options{Replay: s.anywhere(o)}) })
}

// saveFile writes what render makes into a file, all of it or nothing.
func saveFile(name string, render func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	return writeAll(filepath.Dir(name), []document{{filepath.Base(name), b.Bytes()}})
}
