package mechanical

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locksim/internal/dev/patch"
)

// Group is the group of the mechanical mutants: the first part of their names.
const Group = "mechanical"

// Edit is a mechanical mutant: one place of a file, and what is there instead. The rest of the file stays byte for
// byte.
type Edit struct {
	Name     string // mechanical/FILE-FUNCTION-WHAT-N, the Nth such place of the function, whatever else the file has
	File     string // relative to the root of the checkout
	Line     int    // where it is in the file, from 1
	Before   string // the text of the place
	After    string // what is there instead
	Function string // with its receiver: "lease.Release"; "" outside functions and in a script

	offset int // of Before in the file, in bytes
}

// Breaks says what the mutant changes, in a cell of a table.
func (e Edit) Breaks() string {
	if e.After == "" {
		return fmt.Sprintf("Line %d lacks %s.", e.Line, code(e.Before))
	}
	return fmt.Sprintf("Line %d has %s in place of %s.", e.Line, code(e.After), code(e.Before))
}

// code is source text in a cell of a table, on one line.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 80 {
		text = strings.ToValidUTF8(text[:77], "") + "…"
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// Mutated is the text of the file with the mistake. It is an error if the file has changed since it was read.
func (e Edit) Mutated(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
	if err != nil {
		return "", err
	}
	end := e.offset + len(e.Before)
	if end > len(text) || string(text[e.offset:end]) != e.Before {
		return "", fmt.Errorf("%s: %s has changed since it was read", e.Name, e.File)
	}
	return string(text[:e.offset]) + e.After + string(text[end:]), nil
}

// concerned are the files of package lock that have mechanical mutants, with the kinds of lock that are searched for
// them: at most two, the simplest that execute the code. An entry FILE:FUNCTION is about one function. The other
// files have no code that one of the kinds executes.
var concerned = map[string][]string{
	"acquire.go":                      {"single"},
	"acquire.go:Fenced.TryAcquire":    {"fenced"},
	"acquire.go:engine.leave":         {"fair", "single"},
	"acquire.go:engine.acquireClaim":  {"single", "fair"},
	"backoff.go":                      {"single", "redlock"},
	"defaults.go":                     {"single", "redlock"},
	"engine.go":                       {"single", "redlock"},
	"engine.go:engine.extend":         {"watchdog"},
	"engine.go:newEngine":             {"single", "watchdog"},
	"fair.go":                         {"fair", "fair-fenced"},
	"fenced.go":                       {"fenced", "watchdog-fenced"},
	"keys.go":                         {"single", "redlock"},
	"lease.go":                        {"single", "redlock"},
	"lease.go:lease.Extend":           {"single", "watchdog"},
	"lease.go:lease.extend":           {"single", "watchdog"},
	"lease.go:extendKey":              {"watchdog", "redlock-watchdog"},
	"life.go":                         {"single", "watchdog"},
	"notify.go":                       {"single", "fair"},
	"options.go":                      {"single", "redlock"},
	"outcome.go":                      {"single", "redlock"},
	"redlock.go":                      {"redlock"},
	"redlock.go:quorumLease.Extend":   {"redlock-watchdog", "redlock"},
	"redlock_fenced.go":               {"redlock-fenced"},
	"redlock_options.go":              {"redlock", "redlock-watchdog"},
	"redlock_quorum.go":               {"redlock"},
	"redlock_quorum.go:quorum.extend": {"redlock-watchdog", "redlock"},
	"redlock_votes.go":                {"redlock", "redlock-watchdog"},
	"reentrant.go":                    {"reentrant", "reentrant-fenced"},
	"scripts.go":                      {"single", "redlock"},
	"scripts.go:mint.ask":             {"fair", "fair-fenced"},
	"single.go":                       {"single"},
	"subscription.go":                 {"single", "fair"},
	"wait.go":                         {"single"},
	"watchdog.go":                     {"watchdog", "redlock-watchdog"},
	"watchdog_holder.go":              {"watchdog"},
	"watchdog_lease.go":               {"watchdog", "redlock-watchdog"},
	"watchdog_options.go":             {"watchdog", "redlock-watchdog"},
	"extend.lua":                      {"watchdog", "redlock-watchdog"},
	"extend_reentrant.lua":            {"reentrant", "reentrant-fenced"},
	"grant_fair.lua":                  {"fair", "fair-fenced"},
	"grant_fenced.lua":                {"fenced"},
	"grant_quorum_fenced.lua":         {"redlock-fenced"},
	"grant_reentrant.lua":             {"reentrant", "reentrant-fenced"},
	"raise_token.lua":                 {"redlock-fenced"},
	"release.lua":                     {"single", "redlock"},
	"release_fair.lua":                {"fair", "fair-fenced"},
	"release_reentrant.lua":           {"reentrant", "reentrant-fenced"},
}

// Overlay writes the file with the mistake into dir, and the file for the flag -overlay of the go command, whose name
// it returns.
func (e Edit) Overlay(root, dir string) (string, error) {
	text, err := e.Mutated(root)
	if err != nil {
		return "", err
	}
	return patch.WriteOverlay(root, dir, e.Name, map[string]string{e.File: text})
}

// Kinds are the kinds of lock that are searched for the mutant.
func (e Edit) Kinds() []string {
	base := filepath.Base(e.File)
	if kinds := concerned[base+":"+e.Function]; kinds != nil {
		return kinds
	}
	return concerned[base]
}

// unconcerned are the functions without mutants. No run of a lock depends on them: they decide whether there is a lock
// at all, since a constructor refuses invalid options before any lock exists, or they word an error.
var unconcerned = []string{
	"Backoff.validate", "Options.Validate", "RedlockOptions.Validate", "Waiting.validate", "Waiting.check",
	"WatchdogOptions.Validate",
	"NodeError.Error", "NodeErrors.Error", "Waiting.String",
}

// List lists every mechanical mutant of package lock, in the order of the files and the places in them.
func List(root string) ([]Edit, error) {
	var files []string
	for name := range concerned {
		if !strings.Contains(name, ":") {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	var all []Edit
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, "lock", name))
		if err != nil {
			return nil, err
		}
		edits, err := edits("lock/"+name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, edits...)
	}
	return all, nil
}

// edits lists the mechanical mutants of one file, in the order of their places. For code in Go:
//
//   - drop: a statement is missing; not one that declares a name, since its uses would not compile;
//   - negate: the condition of an if or a for is negated;
//   - more, less: an integer is greater or less by 1;
//   - bound: < is <=, > is >=, and the reverse; so are Before and After;
//   - either, both: && is ||, and the reverse;
//   - context: an argument is context.Background() in place of a context;
//   - success: the last result is nil in place of an error.
//
// For a script: a line is missing, a comparison is turned (== and ~=, and the bounds), and is or.
func edits(file string, text []byte) ([]Edit, error) { return (&lister{file: file, text: text}).list() }
