package main

import (
	"fmt"
	"io"

	"locksim/examples/libraries"
	"locksim/internal/prose"
)

// printSheet writes what a library promises, and how it is used.
func printSheet(w io.Writer, s libraries.Sheet) {
	_, _ = fmt.Fprintf(w, "%s: %s %s\n", s.Name, s.Module, s.Version)
	for _, l := range s.Locks {
		_, _ = fmt.Fprintf(w, "\n%s: %s\n  %s\n", l.Name, l.Is, l.Options)
		for _, q := range l.Says {
			_, _ = fmt.Fprintf(w, "  Its documentation: “%s” (%s)\n", inALine(q.Text), q.Where)
		}
		_, _ = fmt.Fprint(w, "  It is judged by:\n")
		for _, p := range l.Promise {
			_, _ = fmt.Fprintf(w, "    %s: %s %s\n", p.Name, p.Text, prose.Commas(p.Words))
			for _, item := range p.Items {
				_, _ = fmt.Fprintf(w, "      %s\n", item)
			}
		}
	}
}

// printCell writes a cell, with the smallest story of each failure.
func printCell(w io.Writer, s libraries.Sheet, l libraries.LockSheet, t libraries.Trouble, c played) {
	_, _ = fmt.Fprintf(w, "%s, %s %s: %s (%s)  %.1f s\n", l.Name, s.Module, s.Version, t.Name, t.Means, c.Wall)
	for _, p := range partsOf(&c.Cell, l) {
		_, _ = fmt.Fprintf(w, "  %s  %s\n", p.Short, p.Sentence)
		for _, f := range p.Failures {
			_, _ = fmt.Fprintf(w, "\n    %s, in %s; the smallest one, of seed %d:\n", f.What, prose.Count(f.Runs, "run"), f.Seed)
			for _, line := range storyOf(f) {
				_, _ = fmt.Fprintf(w, "      %s\n", line)
			}
		}
	}
	for _, id := range known(&c.Cell, l) {
		_, _ = fmt.Fprintf(w, "  †  The schedules do not show it, and it is known: %s\n", id)
	}
	_, _ = fmt.Fprintln(w)
}
