package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/library"
)

// libraryFolder precedes the file name of a scenario of the library.
const libraryFolder = "library/"

// Library is all scenarios that come with locksim, sorted by name. The caller
// owns the slice and the scenarios. An error means that a file of the library
// itself is broken.
func Library() ([]*Scenario, error) {
	entries, err := library.Files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list the scenario library: %w", err)
	}
	var all []*Scenario
	for _, entry := range entries {
		s, err := ofLibrary(entry.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Scenario) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// ofLibrary reads a file of the library.
func ofLibrary(name string) (*Scenario, error) {
	file := libraryFolder + name
	data, err := library.Files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read scenario %s: %w", file, err)
	}
	s, err := Parse(file, data)
	if err != nil {
		return nil, fmt.Errorf("parse scenario %s: %w", file, err)
	}
	return s, nil
}

// Load reads the scenario of that name from the library or, if the name has a slash
// or ends in .yaml or .yml, from that file. An unknown name, a file that cannot be
// read and an invalid file are *InputErrors. kinds are those of [Parse].
func Load(nameOrPath string, kinds ...server.Facts) (*Scenario, error) {
	if isPath(nameOrPath) {
		return loadFile(nameOrPath, kinds)
	}
	names := libraryNames()
	if slices.Contains(names, nameOrPath) {
		return ofLibrary(nameOrPath + ".yaml")
	}
	return nil, NewInputError(nil, faults.Pos{}, "there is no scenario %q in the library: %slocksim list shows all; or "+
		"name a file by its path, such as ./my.yaml",
		nameOrPath, prose.DidYouMean(nameOrPath, names))
}

// libraryNames are the names of the scenarios of the library: each file has the name of its scenario.
func libraryNames() []string {
	entries, _ := library.Files.ReadDir(".") // embedded
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	return names
}

func isPath(s string) bool {
	return strings.ContainsAny(s, `/\`) || strings.HasSuffix(s, ".yaml") || strings.HasSuffix(s, ".yml")
}

func loadFile(path string, kinds []server.Facts) (*Scenario, error) {
	data, err := readFile(path)
	if err != nil {
		hint := ""
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".yml")
		if near := prose.Nearest(name, libraryNames()); near != "" && errors.Is(err, fs.ErrNotExist) {
			hint = fmt.Sprintf("did you mean %s, which is in the library? Or ", near)
		}
		return nil, &InputError{
			Msg: fmt.Sprintf("cannot read the scenario: %v: %sgive the path of a YAML file, or a name that locksim list shows",
				err, hint),
			Err: err,
		}
	}
	return Parse(path, data, kinds...)
}

// readFile reads at most one byte more than the limit, which shows that a file is too long.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, MaxSource+1))
}

// Drawn is the name of scenarios that chance has drawn, which are in no file of a user.
const Drawn = "drawn"

// InLibrary reports whether the scenario is the one in the library.
func (s *Scenario) InLibrary() bool {
	name, ok := strings.CutPrefix(s.File, libraryFolder)
	if !ok {
		return false
	}
	data, err := library.Files.ReadFile(name)
	return err == nil && bytes.Equal(data, s.Source)
}

// Reference is the name or the path by which Load finds the scenario.
func (s *Scenario) Reference() string {
	if s.InLibrary() {
		return s.Name
	}
	return s.File
}
