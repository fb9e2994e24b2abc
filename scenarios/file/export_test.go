package file

// ActionSources are all actions as a file writes them. WorldFor is a file with all
// the processes and servers that an action names.
func ActionSources() []string {
	out := exampleSources()
	for _, a := range everyAction {
		out = append(out, a.source)
	}
	return out
}

func WorldFor(action string) string { return worldFor(action) }
