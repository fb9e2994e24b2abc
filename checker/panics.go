package checker

import "fmt"

func panics(h History) *tally {
	found, whose := &tally{more: "panics"}, "lock"
	if h.Fence != "" {
		whose = "fence or of the lock"
	}
	for _, p := range h.Panics {
		found.add(func() Reason {
			return Reason{Text: fmt.Sprintf("The code of the %s ended the process of %s at step %d by a panic: %s.", whose,
				p.Client, p.At, p.Text), At: []Pos{p.At}}
		})
	}
	return found
}
