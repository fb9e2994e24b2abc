package groundtruth

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/file"
)

//go:embed bugs.yaml
var bugsYAML []byte

// row is a row of bugs.yaml. Its promises are names.
type row struct {
	ID         string   `yaml:"id"`
	Adapter    string   `yaml:"adapter"`
	Module     string   `yaml:"module"`
	Has        string   `yaml:"has"`
	HasNot     string   `yaml:"has_not"`
	Source     string   `yaml:"source"`
	Mechanism  string   `yaml:"mechanism"`
	Kind       string   `yaml:"kind"`
	Quote      string   `yaml:"quote"`
	Where      string   `yaml:"where"`
	Promise    string   `yaml:"promise"`
	Helped     *help    `yaml:"helped"`
	Expected   string   `yaml:"expected"`
	Missed     string   `yaml:"missed"`
	Otherwise  string   `yaml:"otherwise"`
	Frozen     string   `yaml:"frozen"`
	Also       string   `yaml:"also"`
	Overlay    bool     `yaml:"overlay"`
	Apart      bool     `yaml:"apart"`
	With       []string `yaml:"with"`
	NotWith    []string `yaml:"not_with"`
	Over       []string `yaml:"over"`
	NotAdapter string   `yaml:"not_adapter"`
	NotModule  string   `yaml:"not_module"`
}

// help is the [Help] of a row. TTL is the length of every lease, 0 for those that are drawn.
type help struct {
	What    string        `yaml:"what"`
	Promise string        `yaml:"promise"`
	Faults  []lock.Fault  `yaml:"faults"`
	TTL     time.Duration `yaml:"ttl"`
}

// Bugs are the rows, by library. The caller owns the slice.
func Bugs() []Bug { return slices.Clone(rows()) }

// rows are those of the file, which is a part of the program: a mistake in it is one of the program.
var rows = sync.OnceValue(func() []Bug {
	all, err := readRows(bugsYAML)
	if err != nil {
		panic("bugs.yaml: " + err.Error())
	}
	return all
})

// readRows reads the rows of a file. An unknown key, and the name of a promise that there is not, is an error.
func readRows(text []byte) ([]Bug, error) {
	var read []row
	if err := yaml.UnmarshalWithOptions(text, &read, yaml.Strict()); err != nil {
		return nil, err
	}
	var all []Bug
	for _, r := range read {
		b, err := r.bug()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		all = append(all, b)
	}
	return all, nil
}

func (r row) bug() (Bug, error) {
	b := Bug{
		ID: r.ID, Adapter: r.Adapter, Source: r.Source, Mechanism: r.Mechanism, Kind: r.Kind, Module: r.Module, Has: r.Has,
		HasNot: r.HasNot, Quote: r.Quote, Where: r.Where, Expected: r.Expected, Missed: r.Missed, Otherwise: r.Otherwise,
		Frozen: r.Frozen, Also: r.Also, Overlay: r.Overlay, With: r.With, NotWith: r.NotWith, Apart: r.Apart, Over: r.Over,
		NotAdapter: r.NotAdapter, NotModule: r.NotModule,
	}
	var err error
	if b.Promise, err = promiseNamed(r.Promise); err != nil || r.Helped == nil {
		return b, err
	}
	b.Helped = &Help{What: r.Helped.What, Options: scenarios.Options{Faults: r.Helped.Faults,
		Space: scenarios.Space{TTL: file.Range{Min: r.Helped.TTL, Max: r.Helped.TTL}}}}
	b.Helped.Promise, err = promiseNamed(r.Helped.Promise)
	return b, err
}

// promiseNamed is a promise of [promises].
func promiseNamed(name string) (lock.Promise, error) {
	of, ok := promises[name]
	if !ok {
		return lock.Promise{}, fmt.Errorf("there is no promise %q: promises.go has their names", name)
	}
	return of(), nil
}
