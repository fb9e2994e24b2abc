package file

// ActionSources are all actions as a file writes them, BigWorld a file with everybody
// whom they name.
func ActionSources() []string {
	out := exampleSources()
	for _, a := range everyAction {
		out = append(out, a.source)
	}
	return out
}

const BigWorld = bigWorld
