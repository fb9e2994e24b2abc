package faults

import "fmt"

// Pos is a place in a file. The zero value means that there is no file: the
// value was built in Go.
type Pos struct {
	// File is the name of the file as the user gave it.
	File string
	// Line and Column count from 1; columns are characters, not bytes. Both
	// are 0 when only the file is known.
	Line, Column int
}

// String is "file:line:column", as editors understand it. The parts that are
// not known are left out.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}
