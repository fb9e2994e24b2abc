package app

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
)

// galleryStory is a page of the gallery: a scenario and the fencing modes that show its
// point best.
type galleryStory struct {
	page, scenario, modes string
}

// galleryStories are failures that an author of a lock should know. Each runs with
// the scenario's own lock and seed 1.
var galleryStories = []galleryStory{
	{"01-gc-pause", "gc-pause", "none,check,seal"},
	{"02-redlock-clock-jump", "redlock-clock-jump", "none,claim,cas"},
	{"03-failover-loses-the-lock", "failover-before-replication", "none,check,strict,claim"},
	{"04-watchdog-without-owner-check", "watchdog-bare-expire", "none,claim,cas"},
	{"05-del-without-owner", "del-without-owner", "none,claim,cas"},
	{"06-token-after-grant", "token-after-lock", "none,check,seal"},
	{"07-stale-write-before-the-successor", "stale-write-first", "none,check,seal"},
	{"08-lost-reply-and-retry", "lost-reply", "none,claim,cas"},
	{"09-two-primaries", "split-brain", "none,check,strict,claim"},
	{"10-late-packet", "late-packet", "none,check,seal"},
	{"11-etcd-keep-alives-lost", "etcd-keepalives-lost", "none,check,seal"},
	{"12-row-lock-and-pause", "sql-for-update-pause", "none,claim"},
	{"13-session-ends-in-a-pause", "zk-session-expiry", "none,check,seal"},
}

// galleryCommand is hidden, since it is for the development of locksim: make gallery
// calls it.
func galleryCommand(s *shell) *cobra.Command {
	var pages bool
	cmd := &cobra.Command{
		Use:   "gallery DIR",
		Short: "Write the gallery of famous stories",
		Long: "Gallery writes a page for each of some famous stories into DIR, and an index of\nthem. The folder is " +
			"reports/gallery in a clone of locksim. With --html it writes the\npages for browsers, without an index.",
		Hidden: true,
		Args:   exactly(1, "one folder, such as reports/gallery"),
		RunE: func(_ *cobra.Command, args []string) error {
			if pages {
				return writeGalleryPages(s, args[0])
			}
			return writeGallery(s, args[0])
		},
	}
	cmd.Flags().BoolVar(&pages, "html", false, "write pages for browsers; a story whose servers are missing here is "+
		"left out")
	return cmd
}

// writeGalleryPages writes the stories as pages for browsers.
func writeGalleryPages(s *shell, dir string) error {
	if err := outfile.PrepareFolder("out", dir); err != nil {
		return err
	}
	var files []outfile.Document
	for _, story := range galleryStories {
		t, err := runFlags{seed: 1, fencing: story.modes}.task(s, story.scenario)
		if missing, ok := errors.AsType[*subject.MissingError](err); ok {
			s.Note(fmt.Sprintf("%s: left out: %v", story.page, missing))
			continue
		}
		if err != nil {
			return err
		}
		o, err := t.play(s)
		if err != nil {
			return err
		}
		page, err := runfiles.Page(o, runfiles.PageOptions(s.Console, o, t.lock, t.opts.Repeat))
		if err != nil {
			return &console.BrokenError{Cause: err, Replay: t.replay}
		}
		page.Name = story.page + ".html"
		files = append(files, page)
	}
	if err := outfile.WriteAll(dir, files); err != nil {
		return fmt.Errorf("%w: give a folder that can be written to", err)
	}
	return nil
}

func writeGallery(s *shell, dir string) error {
	if err := outfile.PrepareFolder("out", dir); err != nil {
		return err
	}
	var index bytes.Buffer
	index.WriteString(galleryHead)
	var files []outfile.Document
	for i, story := range galleryStories {
		t, err := runFlags{seed: 1, fencing: story.modes}.task(s, story.scenario)
		if err != nil {
			return err
		}
		o, err := t.play(s)
		if err != nil {
			return err
		}
		page, err := runfiles.Markdown(story.page+".md", o, runfiles.MarkdownOptions(s.Console, o, t.opts.Repeat))
		if err != nil {
			return &console.BrokenError{Cause: err, Replay: t.replay}
		}
		files = append(files, page)
		fmt.Fprintf(&index, "| %d | [%s](%s) | %s | %s | %s |\n", i+1, o.Scenario.Title, page.Name, o.Lock, labels(o),
			strings.Join(o.Scenario.Catalogue, ", "))
	}
	files = append(files, outfile.Document{Name: "README.md", Data: index.Bytes()})
	if err := outfile.WriteAll(dir, files); err != nil {
		return fmt.Errorf("%w: give a folder that can be written to", err)
	}
	return nil
}

// labels are the labels of all modes: "none corrupted, check rescued".
func labels(o *outcome.Outcome) string {
	var parts []string
	for _, m := range o.Modes {
		parts = append(parts, fmt.Sprintf("%s %s", m.Mode, m.Verdict.Label))
	}
	return strings.Join(parts, ", ")
}

const galleryHead = `# Famous stories

<!-- Written by make gallery. Do not edit. -->

How locks have failed, each as a run that anybody can make again. A page has the story as a diagram, what became of it
under a few fencing rules, the reasons, the schedule, and last the command that prints that same page. GitHub draws the
diagrams.

Locks whose names begin with broken/ are wrong on purpose. In most stories the lock is right, and is not enough. The
trace hashes hold for the versions of the modules in go.mod.

| | story | lock | fencing mode and outcome | catalogue |
|--:|---|---|---|---|
`
