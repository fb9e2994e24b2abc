package playground

// Knobs are the knobs of a file, none of one that cannot be read.
func Knobs(source string) []Knob {
	sc, err := read(source)
	if err != nil {
		return nil
	}
	return knobs(sc)
}

// Turned is a file with another length.
func Turned(source, path, text string) (string, error) {
	sc, err := read(source)
	if err != nil {
		return "", err
	}
	return turn(sc, path, text)
}
