package checker

import (
	"cmp"
	"slices"
)

// validateAdmission checks the words on what the lock promises.
func (h History) validateAdmission() error {
	switch h.Entry {
	case "", EntryExclusive, EntryReentrant:
	default:
		return malformed("entry %q is not known: want %s or %s", h.Entry, EntryExclusive, EntryReentrant)
	}
	switch {
	case h.Queue != QueueNone && h.Queue != QueueFair:
		return malformed("queue %q is not known: want %s or nothing", h.Queue, QueueFair)
	case h.Queue == QueueFair && h.Entry == EntryReentrant:
		return malformed("a fair queue and reentrant entry: it is not defined which entries pass the queue")
	}
	return nil
}

// validateGround checks what the nodes' record says.
func (h History) validateGround() error {
	for _, d := range h.Deletions {
		if err := d.validate(); err != nil {
			return err
		}
	}
	for _, s := range h.Holdings {
		if err := s.validate(); err != nil {
			return err
		}
	}
	return validateRecord(h.Holdings)
}

func (d Deletion) validate() error {
	if text := firstBroken(
		rule{d.At < 1, "a deletion lacks its position"},
		rule{d.Node == "" || d.Resource == "", "a deletion lacks its node or resource"},
		rule{d.Owner == "" || d.By == "", "a deletion lacks the client that had set the key or that deleted it"},
	); text != "" {
		return malformed("%s: %+v", text, d)
	}
	return nil
}

func (s Holding) validate() error {
	if text := firstBroken(
		rule{s.Client == "" || s.Resource == "", "a holding lacks its client or resource"},
		rule{s.From < 1 || s.To < 0, "a holding lacks the position of its beginning"},
		rule{before(s.To, s.From), "a holding ended before it began"},
	); text != "" {
		return malformed("%s: %+v", text, s)
	}
	return nil
}

// validateRecord checks that the spans of one client on one resource follow one
// another.
func validateRecord(all []Holding) error {
	sorted := slices.SortedFunc(slices.Values(all), byHolder)
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		if a.Client == b.Client && a.Resource == b.Resource && a.Span().end() > b.From {
			return malformed("two holdings of one client overlap: %+v and %+v", a, b)
		}
	}
	return nil
}

func byHolder(a, b Holding) int {
	return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Client, b.Client),
		cmp.Compare(a.From, b.From), cmp.Compare(a.Span().end(), b.Span().end()))
}
