// Rename gives the module of locksim another path, everywhere: in the go.mod of each module of
// the tree, in imports, in the names of packages in comments, pages, messages and the rules of
// the linter. It is the one step before locksim is published under the path of a repository.
//
//	go -C internal/dev run ./rename example.org/you/locksim
//
// It changes the files that Git tracks, and no others, and
// leaves the name of the command, which is locksim under every path.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"locksim/internal/dev/checkout"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "rename: give the new path of the module, such as example.org/you/locksim")
		os.Exit(2)
	}
	root, err := checkout.Root()
	changed := 0
	if err == nil {
		changed, err = rename(root, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
	fmt.Printf("the module is %s now: %d files changed\n", os.Args[1], changed)
}

var (
	moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)
	modulePath = regexp.MustCompile(`^[A-Za-z0-9][\w.~-]*(/[\w.~-]+)*$`)
)

// rename renames the module in the checkout at root, and returns the number of files that have
// changed.
func rename(root, to string) (changed int, err error) {
	if !modulePath.MatchString(to) {
		return 0, fmt.Errorf("%q is no path of a module: write one such as example.org/you/locksim", to)
	}
	goMod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return 0, fmt.Errorf("%w: run this in the root of a checkout", err)
	}
	m := moduleLine.FindSubmatch(goMod)
	if m == nil {
		return 0, errors.New("go.mod has no module line")
	}
	r, err := newRenaming(root, string(m[1]), to)
	if err != nil {
		return 0, err
	}
	files, err := tracked(root)
	if err != nil {
		return 0, err
	}
	for _, name := range files {
		did, err := r.file(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return changed, fmt.Errorf("%s: %w", name, err)
		}
		if did {
			changed++
		}
	}
	return changed, nil
}

// tracked are the files that Git tracks, relative to root.
func tracked(root string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files that Git tracks: %w", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// renaming replaces a path of a module by another one in texts.
type renaming struct {
	to string
	// old matches the path where it is that of the module and not the name of the command. Its
	// first group is what stands before it, its second what follows. inGoMod is for go.mod.
	old, inGoMod *regexp.Regexp
}

// newRenaming makes the patterns from the folders at the root of the module: the path of a
// package continues with one of them.
func newRenaming(root, from, to string) (*renaming, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			folders = append(folders, regexp.QuoteMeta(e.Name()))
		}
	}
	follows := []string{
		`/(?:` + strings.Join(folders, "|") + `)\b`,
		`/["', ]`,   // the prefix of all packages
		`@v`, `=\.`, // go mod edit -require=PATH@VERSION -replace=PATH=FOLDER
	}
	pattern := func(follows ...string) *regexp.Regexp {
		return regexp.MustCompile(`(?m)(^|\\[nt]|[^\w./~-])` + regexp.QuoteMeta(from) + `(` + strings.Join(follows, "|") +
			`)`)
	}
	return &renaming{to: to, old: pattern(follows...), inGoMod: pattern(append(follows, `$`, ` v[0-9]`, ` => `)...)}, nil
}

func (r *renaming) file(name string) (changed bool, err error) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	before, err := os.ReadFile(name)
	if err != nil || bytes.IndexByte(before, 0) >= 0 { // a picture
		return false, err
	}
	old := r.old
	if filepath.Base(name) == "go.mod" {
		old = r.inGoMod
	}
	after := old.ReplaceAll(before, []byte("${1}"+r.to+"${2}"))
	if bytes.Equal(before, after) {
		return false, nil
	}
	if strings.HasSuffix(name, ".go") {
		if after, err = format.Source(after); err != nil { // the imports have another order
			return false, err
		}
	}
	return true, os.WriteFile(name, after, info.Mode().Perm())
}
