package main

import (
	_ "embed"
	"fmt"

	"github.com/goccy/go-yaml"
)

//go:embed argument.yaml
var argumentYAML []byte

// said is a row of the argument.
type said struct {
	Said  string    `yaml:"said"`
	Who   speaker   `yaml:"who"`
	Cells []mention `yaml:"cells"`
	Shows string    `yaml:"shows"`
}

// mention is a figure of a cell that a row is about.
type mention struct {
	Cell   string `yaml:"cell"`
	Lock   string `yaml:"lock"`
	Figure figure `yaml:"figure"`
	Is     share  `yaml:"is"`
}

// figure is one of the two of a cell.
type figure string

const (
	twoClaims   figure = "claims"
	lostUpdates figure = "lost"
)

// share is how large a figure is.
type share string

const (
	never  share = "never"
	seldom share = "seldom"
	often  share = "often"
)

// speaker is who has said something.
type speaker string

// sources are the pages on which it stands.
var sources = map[speaker]string{
	"kleppmann": "[Kleppmann 2016](https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html)",
	"antirez":   "[antirez 2016](http://antirez.com/news/101)",
	"redis":     "[Redis](https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/)",
}

// argument reads the rows.
func argument() ([]said, error) {
	var all []said
	if err := yaml.UnmarshalWithOptions(argumentYAML, &all, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("argument.yaml: %w", err)
	}
	return all, nil
}

// of is the figure of a result.
func (f figure) of(r result) int {
	if f == twoClaims {
		return r.TwoClaims
	}
	return r.Lost
}

// shareOf says how large a figure is.
func shareOf(n, runs int) share {
	switch {
	case n == 0:
		return never
	case 10*n < runs:
		return seldom
	}
	return often
}
