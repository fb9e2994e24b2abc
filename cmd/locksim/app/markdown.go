package app

import (
	"bytes"
	"io"

	"locksim/reports"
	"locksim/reports/markdown"
	"locksim/scenarios/play"
)

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
