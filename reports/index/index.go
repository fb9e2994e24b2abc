// Package index has the content of the page over a folder of results: a list of runs,
// matrices, campaigns and reviews. Package runfolder reads the folder and makes an
// [Index]; package html writes it as a page.
package index

import "locksim/checker"

// Index is the list of the results in a folder.
type Index struct {
	// Entries are the results; within a kind the page keeps their order.
	Entries []Entry
	// Note is a sentence on what is missing, or empty.
	Note string
	// First is the command that makes a first run. The page shows it where there
	// are no entries.
	First string
	// Live says that the page is served: it then refreshes itself, and its policy
	// allows connections to its own server.
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
	// Triage is what a folder remembers of its explorations: which violations are new, still there, back or gone.
	Triage Kind = "triage"
	// Unread is a folder that could not be read; Problem says why.
	Unread Kind = "unread"
)

// Entry is one run, matrix, exploration, sweep or review.
type Entry struct {
	// Folder is its path below the index, with slashes. Folder and Kind together
	// are unique, except for [Unread].
	Folder string
	Kind   Kind
	// What is the scenario, or a title. Lock and Seed are the lock and the seed of
	// the runs; both may be empty.
	What, Lock, Seed string
	// Labels are the verdicts by mode, or the violations, the most severe first.
	Labels []Label
	// Shapes are the violations over time, in the order to be shown.
	Shapes []Shape
	// Result is the result in words.
	Result string
	// Unexpected says that a label is not as was expected.
	Unexpected bool
	// Pages are the files to open; the title links to the first one.
	Pages []Page
	// Progress is the progress of an unfinished campaign, or nil.
	Progress *Progress
	// Problem is the reason why it, or a part of it, cannot be read, or empty.
	Problem string
	// Latest says that the link "latest" points to the folder.
	Latest bool
	// Changed is the time at which its files changed last. It is empty in an index
	// that must not depend on the time.
	Changed string
}

// Shape is a violation over time.
type Shape struct {
	// State is "new", "back", "still" or "gone", and Words is the same for readers.
	State, Words string
	// Shape is what the violation is, and Text is since when.
	Shape, Text string
}

// Label is a label with its mode, or with how many runs showed it. Either may be
// empty.
type Label struct {
	Mode  string
	Label checker.Label
	Count int
}

// Page is a file of an entry's folder.
type Page struct{ Name, File string }

// Progress is the number of jobs with a result, and of all jobs, 0 while that is not
// known. Running says that the journal changed a short time ago.
type Progress struct {
	Done, Jobs int
	Running    bool
}
