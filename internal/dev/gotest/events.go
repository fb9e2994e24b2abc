package gotest

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// Event is what go test -json prints: see go doc test2json.
type Event struct {
	Action, Package, Test, Output string
	// FailedBuild is the package that does not compile; "" but for the failure of a package because of that.
	FailedBuild string
}

// Events reads the output of go test -json. Other output, such as an error about a flag, is an error, after which
// nothing follows.
func Events(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		d := json.NewDecoder(r)
		for {
			var e Event
			err := d.Decode(&e)
			if errors.Is(err, io.EOF) || !yield(e, err) || err != nil {
				return
			}
		}
	}
}
