package file

// ActionSources are all actions as a file writes them, BigWorld a file with everybody
// whom they name.
func ActionSources() []string {
	out := make([]string, len(everyAction))
	for i, a := range everyAction {
		out[i] = a.source
	}
	return out
}

const BigWorld = bigWorld
