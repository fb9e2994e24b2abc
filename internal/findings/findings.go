// Package findings says what each published thread about a lock is, and each finding of locksim's own, and how it
// stands. All pages that say so take it from here.
package findings

import (
	"slices"
	"strings"
)

// Class is what a thread is.
type Class string

// The classes. A bug that the maintainers have marked as one that they do not mend is declined.
const (
	Bug      Class = "bug"
	Request  Class = "feature request"
	Declined Class = "declined"
	InHouse  Class = "bug of an application" // in a lock that it has written for itself
	Own      Class = "found with locksim"    // by a run, or by the reading that followed; it is no published bug
)

// State is how a finding stands.
type State string

// The states. Of a bug that is mended, a version is without it.
const (
	Mended State = "mended"
	Open   State = "open"
	Closed State = "closed without a change"
	Stale  State = "closed as stale, without a change"
	Left   State = "open, in a repository that has been left"
)

// Finding is a thread, or a finding of our own.
type Finding struct {
	// ID is that of a row of the ground truth, or of a draft below docs/upstream.
	ID    string
	Class Class
	State State
	// Thread is the address of the issue or the pull request; "" for one of our own.
	Thread string
	// Library and Version are those of a finding of our own: the version in which it was seen last.
	Library, Version string
	// Known says what of a finding of our own is public already, and what is near it; "" for nothing.
	Known string
	// Told is the day on which its authors were told of a finding of our own; "" for not yet.
	Told string
	// Note is more on how it stands: what has mended it, or what of it stays.
	Note string
}

// Find is the finding with an id.
func Find(id string) (f Finding, ok bool) {
	i := slices.IndexFunc(all, func(f Finding) bool { return f.ID == id })
	if i < 0 {
		return Finding{}, false
	}
	return all[i], true
}

// All lists the findings. The caller owns the slice.
func All() []Finding { return slices.Clone(all) }

// Status says in a part of a sentence what a finding is, and how it stands.
func (f Finding) Status() string {
	if f.Class == Own {
		known := "not known"
		if f.Known != "" {
			known = f.Known
		}
		told := "not told yet"
		if f.Told != "" {
			told = "told on " + f.Told
		}
		return known + "; " + told
	}
	text := string(f.State)
	if f.Class != Bug {
		text = string(f.Class) + ", " + text
	}
	if f.Note != "" {
		text += " (" + f.Note + ")"
	}
	return text
}

// Number is the number of the thread, such as #140; "" for a finding of our own.
func (f Finding) Number() string {
	if f.Thread == "" {
		return ""
	}
	return "#" + f.Thread[strings.LastIndexByte(f.Thread, '/')+1:]
}
