// Package claims has what well-read articles and vendors say of locks, each sentence with what it needs in order to
// hold and with the runs that show it: the rows of reports/CLAIMS.md and reports/CLAIMS.zh.md.
package claims

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed claims.yaml
var claimsYAML []byte

// Chapter is one of the two of the book.
type Chapter string

// The chapters.
const (
	Articles Chapter = "articles"
	Vendors  Chapter = "vendors"
)

// Holds says in how far a claim is true.
type Holds string

// Each claim is true, or true under its condition, or another sentence is true.
const (
	HoldsAsItStands Holds = "holds"
	HoldsIf         Holds = "on a condition"
	HoldsNot        Holds = "not as it stands"
)

// Text is a sentence or two in both languages.
type Text struct {
	EN string `yaml:"en"`
	ZH string `yaml:"zh"`
}

// Source is a public page.
type Source struct {
	Title string `yaml:"title"`
	URL   string `yaml:"url"`
}

// Run is a command that is given in the root of a clone.
type Run struct {
	Command string `yaml:"command"`
	// Prints are parts of its output, in which line breaks and runs of blanks are one blank.
	Prints []string `yaml:"prints"`
}

// Claim is one row.
type Claim struct {
	// ID names the row, and is the anchor of its section.
	ID      string  `yaml:"id"`
	Chapter Chapter `yaml:"chapter"`
	Holds   Holds   `yaml:"holds"`
	// Says is the claim in our words.
	Says Text `yaml:"says"`
	// Quote are words of the source, fewer than twenty, where … stands for some that are left out; "" where they are
	// not at hand.
	Quote string `yaml:"quote"`
	// Corrects says that they do not make the claim, which others make: they say what is so instead.
	Corrects bool   `yaml:"corrects"`
	Source   Source `yaml:"source"`
	// Needs says what the claim needs in order to hold, or to matter, and where it holds.
	Needs Text  `yaml:"needs"`
	Runs  []Run `yaml:"runs"`
	// Shows says what the runs show.
	Shows Text `yaml:"shows"`
}

// All are the claims, those of the articles first. The caller owns the slice.
func All() []Claim { return slices.Clone(read()) }

// read reads the file, which is a part of the program: a mistake in it is one of the program.
var read = sync.OnceValue(func() []Claim {
	var all []Claim
	if err := yaml.UnmarshalWithOptions(claimsYAML, &all, yaml.Strict()); err != nil {
		panic("claims.yaml: " + err.Error())
	}
	return all
})

// Missing are the parts of what the command should print that output lacks.
func (r Run) Missing(output string) []string {
	output = strings.Join(strings.Fields(output), " ")
	return slices.DeleteFunc(slices.Clone(r.Prints), func(part string) bool { return strings.Contains(output, part) })
}
