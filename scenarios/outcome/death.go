package outcome

// Death is how the program ends in a run: a goroutine that the lock has started panics, which nothing can catch. It is
// found out in one process, and told to another one, in which the run stops before.
type Death struct {
	// Turn is the last turn of the run: the world lets one event happen after the other, and a turn ends when every
	// goroutine waits.
	Turn int `json:"turn" jsonschema:"minimum=1"`
	// Client is whose goroutine it was.
	Client string `json:"client"`
	// Incarnation is which of the client's processes it was: 1, and one more after each restart.
	Incarnation int `json:"incarnation" jsonschema:"minimum=1"`
	// Panic is the value of the panic.
	Panic string `json:"panic"`
	// Where is the innermost function of the code under test, with its file and line.
	Where string `json:"where"`
}

// Text is what the story says of it.
func (d *Death) Text() string {
	return d.Panic + ", in a goroutine that the lock has started, " + d.Where
}
