// Package index says what there is to show of a folder of results: a list of runs,
// matrices, campaigns and reviews. Who reads the folder makes an [Index]; package html
// writes it as a page.
package index

import "locksim/checker"

// Index is what a folder of runs holds, ready to be shown.
type Index struct {
	// Entries are what was found, in the order in which they are shown within
	// their kind.
	Entries []Entry
	// Note says what is missing, as a sentence, or nothing.
	Note string
	// First is the command that makes a first run, shown where there is none.
	First string
	// Live says that the page is served: it then refreshes itself. It must be
	// allowed to connect to where it comes from.
	Live bool
}

// Kind is what an entry of an index is.
type Kind string

// The kinds, as the index groups them.
const (
	Run         Kind = "run"
	Matrix      Kind = "matrix"
	Exploration Kind = "explore"
	Sweep       Kind = "sweep"
	Review      Kind = "review"
	// Unread is a folder of which nothing is known but Problem.
	Unread Kind = "unread"
)

// Entry is one run, matrix, exploration, sweep or review.
type Entry struct {
	// Folder is where it lies, below the index, with slashes. With Kind it is
	// unique.
	Folder string
	Kind   Kind
	// What is the scenario, or a title. Lock and Seed say with what it was run;
	// both may be empty.
	What, Lock, Seed string
	// Labels are the verdicts or the violations, the gravest first or by mode.
	Labels []Label
	// Said is the result in words.
	Result string
	// Unexpected says that a label is worse than was expected.
	Unexpected bool
	// Pages are the files that people open, the first one before all.
	Pages []Page
	// Progress is how far a campaign has come that has not ended, or nil.
	Progress *Progress
	// Problem is why it cannot be read, or why a part of it cannot, or empty.
	Problem string
	// Latest says that the link "latest" leads here.
	Latest bool
	// Changed is when its files changed last, in words. It is empty in an index
	// that is to be the same everywhere.
	Changed string
}

// Label is a label with its mode, or how often it was seen. Either may be
// left out.
type Label struct {
	Mode  string
	Label checker.Label
	Count int
}

// Page is a file of an entry's folder.
type Page struct{ Name, File string }

// Progress is how far a campaign has come: jobs with a result, of all, which
// are 0 while that is not known. It is Running as long as results come, as far as one can tell from outside.
type Progress struct {
	Done, Jobs int
	Running    bool
}
