package markdown

import (
	"strings"

	"locksim/internal/prose"
	"locksim/sim/trace"
)

// maxCommand and maxAnswer are how much of a request and of an answer a diagram
// shows, in characters.
const (
	maxCommand = 72
	maxAnswer  = 90
)

// shortRequest is a request in a few words; it is empty for those that a diagram leaves
// out.
func shortRequest(request, answer trace.Content) string {
	if r, ok := request.(trace.Request); ok {
		return prose.Clip(r.Brief(answer), maxCommand)
	}
	return prose.Clip(string(request.AppendText(nil)), maxCommand)
}

// answered is an answer in a diagram.
func answered(answer trace.Content) string {
	if answer == nil {
		return "(waits)"
	}
	return prose.Clip(string(answer.AppendText(nil)), maxAnswer)
}

// storeAnswer is the store's answer in words. Which operation it is about stands
// beside it.
func storeAnswer(d trace.Decision) string {
	switch {
	case d.Refused != "":
		text := "REFUSED " + d.Refused
		if _, reason, ok := strings.Cut(d.Refused, " refused, "); ok {
			text = "REFUSED: " + strings.TrimSuffix(reason, ": stale operation")
		}
		return prose.Clip(text, maxAnswer)
	case d.Write:
		return "taken"
	case d.Value == "":
		return "nothing written yet"
	}
	return "found " + d.Value
}
