package book

import (
	"errors"
	"flag"
)

// Choices are the flags of a program with a book.
type Choices struct {
	// Table says that the pages are written, after what is missing was played.
	Table bool
	// Stored says that nothing is played.
	Stored bool
	// Anew says that what was made at another commit is played again.
	Anew bool
	// Journal is the file of the results.
	Journal string
}

// Flags adds the flags to those of a program, with the file of the results that it has by default.
func Flags(flags *flag.FlagSet, journal string) *Choices {
	c := new(Choices)
	flags.BoolVar(&c.Table, "table", false, "play what is missing, of all or of those that are named, and write the pages")
	flags.BoolVar(&c.Stored, "stored", false, "with -table: play nothing, write the pages of what is stored")
	flags.BoolVar(&c.Anew, "anew", false, "with -table: also play again what was made at another commit, or with changes "+
		"that no commit has; goes on after an interruption")
	flags.StringVar(&c.Journal, "journal", journal, "the `file` of the stored results")
	return c
}

// Check returns an error for flags that contradict each other.
func (c *Choices) Check() error {
	switch {
	case c.Stored && c.Anew:
		return errors.New("-stored plays nothing, and -anew plays again: leave one of them out")
	case (c.Stored || c.Anew) && !c.Table:
		return errors.New("-stored and -anew say how -table makes the pages: add -table")
	}
	return nil
}
