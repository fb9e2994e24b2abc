package failure

// Placed is what a sweep places in a scenario: one placement, or a pair of them.
type Placed struct {
	// Number is the number of the placement or of the pair.
	Number int `json:"number"`
	// Faults describes the faults.
	Faults string `json:"faults"`
	// Kinds are the kinds of the placements, one for each.
	Kinds []string `json:"kinds" jsonschema:"minItems=1"`
}
