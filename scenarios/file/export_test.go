package file

// ActionSources are all actions as a file writes them. BigWorld is a file with all
// the processes and servers that they name.
func ActionSources() []string {
	out := exampleSources()
	for _, a := range everyAction {
		out = append(out, a.source)
	}
	return out
}

const BigWorld = bigWorld
