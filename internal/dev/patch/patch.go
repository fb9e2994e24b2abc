// Package patch reads mutants, and makes them without a change to the source tree.
//
// A mutant is one realistic mistake, a patch GROUP/NAME.patch in a folder: a sentence
// about what it breaks, lines that say how it is to be found, an empty line, and a unified
// diff of one file. To make one, edit the file and use the output of git diff -U1. The
// lines of a hunk must be in the file exactly once; its line numbers are ignored, so that
// the patch stays valid when the file changes elsewhere.
//
// A patch is applied in memory, and the go command gets the result by its flag -overlay.
package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Patch is one mistake.
type Patch struct {
	Name   string   // GROUP/NAME, from the name of its file
	Breaks string   // what it breaks, in a sentence
	Header []string // the lines between the sentence and the empty line
	Path   string   // the patch, relative to the root of the module
	Text   string   // of the whole patch

	// File is the file with the mistake, relative to the root of the module.
	File  string
	hunks []hunk
}

// hunk is one place of a file that a mutant changes.
type hunk struct {
	line          int // the line of its head in the patch
	before, after []string
}

// Group is the folder of the patch.
func (p Patch) Group() string { return strings.Split(p.Name, "/")[0] }

// Read reads the patches in a folder, which is relative to the root of the module, whose
// names match wanted, in the order of their names. The error names all that are malformed;
// the others are returned with it.
func Read(root, folder string, wanted *regexp.Regexp) ([]Patch, error) {
	files, err := filepath.Glob(filepath.Join(root, folder, "*", "*.patch"))
	if err != nil {
		return nil, err
	}
	var list []Patch
	var errs []error
	for _, file := range files {
		group, base := filepath.Base(filepath.Dir(file)), filepath.Base(file)
		name := group + "/" + strings.TrimSuffix(base, ".patch")
		if !wanted.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		p := Patch{Name: name, Path: folder + "/" + group + "/" + base, Text: string(text)}
		if err := p.parse(); err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, p)
	}
	return list, errors.Join(errs...)
}

var hunkLine = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

func (p *Patch) parse() error {
	lines := strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")
	if len(lines) < 6 {
		return p.Errorf(len(lines), "the patch is too short: want a sentence, lines about the mutant, an empty line and a "+
			"unified diff")
	}
	p.Breaks = lines[0]
	if p.Breaks == "" || strings.Contains(p.Breaks, "|") {
		return p.Errorf(1, "want a sentence about what the mutant breaks, for a cell of a table")
	}
	top := slices.Index(lines, "") // the empty line
	if top < 1 || len(lines) < top+4 {
		return p.Errorf(2, "want an empty line and a unified diff after the lines about the mutant")
	}
	p.Header = lines[1:top]
	p.File = strings.TrimPrefix(lines[top+1], "--- a/")
	if lines[top+1] != "--- a/"+p.File || lines[top+2] != "+++ b/"+p.File {
		return p.Errorf(top+2, `want "--- a/FILE" and "+++ b/FILE", with the same FILE`)
	}
	for n := top + 3; n < len(lines); {
		head := hunkLine.FindStringSubmatch(lines[n])
		if head == nil {
			return p.Errorf(n+1, "want a hunk, from @@ on")
		}
		h := hunk{line: n + 1}
		for n++; n < len(lines) && !strings.HasPrefix(lines[n], "@@"); n++ {
			switch line := lines[n]; {
			case strings.HasPrefix(line, " "):
				h.before, h.after = append(h.before, line[1:]), append(h.after, line[1:])
			case strings.HasPrefix(line, "-"):
				h.before = append(h.before, line[1:])
			case strings.HasPrefix(line, "+"):
				h.after = append(h.after, line[1:])
			default:
				return p.Errorf(n+1, "want a line that begins with a space, - or +")
			}
		}
		if len(h.before) != number(head[1]) || len(h.after) != number(head[2]) {
			return p.Errorf(h.line, "the hunk has %d old lines and %d new ones, but other numbers after @@", len(h.before),
				len(h.after))
		}
		if slices.Equal(h.before, h.after) {
			return p.Errorf(h.line, "the hunk changes nothing")
		}
		p.hunks = append(p.hunks, h)
	}
	return nil
}

// number is a number of lines in the head of a hunk, where 1 may be left out.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return n
}

// Mutated is the text of the file with the mistake. The error names the line of a patch
// that does not fit, and the remedy.
func (p Patch) Mutated(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.File)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", p.Errorf(len(p.Header)+3, "there is no %s: if it was moved, write its new path into the lines --- and +++",
			p.File)
	}
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	var out []string
	done := 0 // how many lines out covers
	for _, h := range p.hunks {
		at, err := p.find(h, lines)
		if err != nil {
			return "", err
		}
		if at < done {
			return "", p.Errorf(h.line, "the hunk must be before the one above it")
		}
		out = slices.Concat(out, lines[done:at], h.after)
		done = at + len(h.before)
	}
	return strings.Join(append(out, lines[done:]...), "\n"), nil
}

// find is the index in a file where the lines of a hunk are.
func (p Patch) find(h hunk, lines []string) (int, error) {
	var matches []int
	closest, most := 0, 0 // the index where most of the lines are, and their number
	for i := range lines {
		equal := 0
		for k, line := range lines[i:min(i+len(h.before), len(lines))] {
			if line == h.before[k] {
				equal++
			}
		}
		if equal == len(h.before) {
			matches = append(matches, i)
		}
		if equal > most {
			closest, most = i, equal
		}
	}
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		return 0, p.Errorf(h.line, "the hunk fits %s:%d and %s:%d: give it more lines of context, as git diff -U2 does",
			p.File, matches[0]+1, p.File, matches[1]+1)
	case most == 0:
		return 0, p.Errorf(h.line, "the hunk does not fit %s, which has none of its lines: %s", p.File, remedy)
	}
	k := 0 // the first line that differs
	have := slices.Concat(lines[closest:], make([]string, len(h.before)))
	for k < len(h.before)-1 && have[k] == h.before[k] {
		k++
	}
	return 0, p.Errorf(h.line, "the hunk does not fit %s:%d: %s\nthe patch has\n%s\nthe file has\n%s",
		p.File, closest+k+1, remedy, h.before[k], have[k])
}

// remedy is the advice for a patch that does not fit.
const remedy = "make the change by hand and use the output of git diff -U1"

// Errorf is an error in a line of the patch.
func (p Patch) Errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.Path, line, fmt.Sprintf(format, args...))
}

// Overlay writes the file with the mistake into dir, and the JSON file for the flag -overlay of the go command, whose
// name it returns.
func (p Patch) Overlay(root, dir string) (string, error) {
	text, err := p.Mutated(root)
	if err != nil {
		return "", err
	}
	return WriteOverlay(root, dir, p.Name, map[string]string{p.File: text})
}

// WriteOverlay writes other texts of files of the module, by their names relative to its root, into dir, and the JSON
// file for the flag -overlay of the go command, whose name it returns. All have the name of the mutant.
func WriteOverlay(root, dir, mutant string, texts map[string]string) (string, error) {
	base := filepath.Join(dir, strings.ReplaceAll(mutant, "/", "-"))
	replace := map[string]string{}
	for file, text := range texts {
		mutated := base + "-" + filepath.Base(file)
		if err := os.WriteFile(mutated, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = mutated
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	return base + ".json", os.WriteFile(base+".json", list, 0o600)
}
