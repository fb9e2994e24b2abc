package strategies

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locksim/internal/dev/patch"
	"locksim/scenarios/kinds"
)

// mistake is what is searched.
type mistake struct {
	class string
	name  string // GROUP/NAME of a patch, or the name of a specimen
	lock  string // the kind of lock that has it
	patch *patch.Patch
}

// overlay writes the overlay of the mistake; nil for a specimen, which has it.
func (m mistake) overlay() func(root, dir string) (string, error) {
	if m.patch == nil {
		return nil
	}
	return m.patch.Overlay
}

// list has a line "CLASS NAME LOCK" for each mistake. Lines that begin with # are comments.
//
//go:embed mistakes.txt
var list string

// patches is the folder of the patches, relative to the root of the checkout.
const patches = "internal/dev/reach/patches"

// mistakes are those of the list whose names match wanted, in its order.
func mistakes(root, text string, wanted *regexp.Regexp) ([]mistake, error) {
	all, err := patch.Read(root, patches, regexp.MustCompile(""))
	if err != nil {
		return nil, err
	}
	var out []mistake
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 3 {
			return nil, fmt.Errorf("mistakes.txt:%d: want CLASS NAME LOCK, and it has %d words", n, len(words))
		}
		m := mistake{class: words[0], name: words[1], lock: words[2]}
		if !strings.HasPrefix(m.name, kinds.BrokenPrefix) {
			i := slices.IndexFunc(all, func(p patch.Patch) bool { return p.Name == m.name })
			if i < 0 {
				return nil, fmt.Errorf("mistakes.txt:%d: there is no patch %s in %s", n, m.name, patches)
			}
			m.patch = &all[i]
		}
		if !slices.Contains(kinds.Names(), m.lock) && !slices.Contains(kinds.Specimens(), m.lock) {
			return nil, fmt.Errorf("mistakes.txt:%d: there is no lock %s", n, m.lock)
		}
		if wanted.MatchString(m.name) {
			out = append(out, m)
		}
	}
	return out, nil
}
