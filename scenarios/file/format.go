package file

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locksim/lock/fence"
)

// Format writes the scenario as a file, with all defaults written out, that Parse
// reads back to an equal one. It returns the error of Validate, and one for a fault
// whose action the format does not have. Only a text of thousands of characters can
// make the file too long for Parse.
func Format(s *Scenario) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("format scenario %q: %w", s.Name, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", scalar(s.Name))
	if s.Title != "" {
		fmt.Fprintf(&b, "title: %s\n", scalar(s.Title))
	}
	if s.Why != "" {
		fmt.Fprintf(&b, "why: %s\n", scalar(s.Why))
	}
	b.WriteString(formatWords("catalogue", s.Catalogue))
	b.WriteString(formatSetting(s))
	for i, f := range s.Faults {
		action, err := formatAction(f.Action)
		if err != nil {
			return nil, fmt.Errorf("format scenario %q: faults[%d]: %w", s.Name, i, err)
		}
		if i == 0 {
			b.WriteString("faults:\n")
		}
		fmt.Fprintf(&b, "  - %s\n    %s\n", formatTrigger(f), action)
	}
	b.WriteString(formatWords("locks", s.Locks))
	b.WriteString(formatExpect(s))
	return []byte(b.String()), nil
}

// formatSetting is the world, the lock and the workload. Keys that scenarios seldom
// have are left out if they have the default.
func formatSetting(s *Scenario) string {
	d := Defaults()
	return fmt.Sprintf("world: {%s}\n", formatServers(s.World)+formatKeys("world", s, d)) +
		fmt.Sprintf("lock: {kind: %s%s}\n", scalar(s.Lock.Kind), formatKeys("lock", s, d)+formatSettings(s.Lock.Settings)) +
		formatStore(s.Store) +
		fmt.Sprintf("workload: {%s%s}\n", strings.TrimPrefix(formatKeys("workload", s, d), ", "),
			formatSection(s.Workload.Section))
}

func formatStore(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("store: %s\n", scalar(name))
}

func formatServers(w World) string {
	var counts []string
	if w.Redis > 0 || len(w.Servers) == 0 {
		counts = append(counts, fmt.Sprintf("redis: %d", w.Redis))
	}
	for _, s := range w.Servers {
		counts = append(counts, fmt.Sprintf("%s: %d", s.Name, s.Count))
	}
	return strings.Join(counts, ", ")
}

// formatWords is a list of words under a top-level key; "" without words.
func formatWords(key string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s\n", key, listed(list))
}

// listed is a list of words; "" without words.
func listed(list []string) string {
	if len(list) == 0 {
		return ""
	}
	quoted := make([]string, len(list))
	for i, word := range list {
		quoted[i] = scalar(word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// formatExpect lists the modes in the order of their strength.
func formatExpect(s *Scenario) string {
	if len(s.Expect) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("expect:\n")
	for _, kind := range slices.Sorted(maps.Keys(s.Expect)) {
		var labels []string
		for _, mode := range fence.Modes() {
			if label, ok := s.Expect[kind][mode]; ok {
				labels = append(labels, fmt.Sprintf("%s: %s", mode, label))
			}
		}
		fmt.Fprintf(&b, "  %s: {%s}\n", scalar(kind), strings.Join(labels, ", "))
	}
	return b.String()
}

// plain is a word that YAML reads as a string. Words that YAML reads otherwise,
// such as null, are quoted like all other text.
var (
	plain    = regexp.MustCompile(`^[a-z][a-z0-9-]*(/[a-z0-9-]+)?$`)
	reserved = []string{"true", "false", "null"}
)

// scalar writes text so that YAML reads it back. Go's quoting is YAML's for all
// characters that a valid scenario has.
func scalar(text string) string {
	if plain.MatchString(text) && !slices.Contains(reserved, text) {
		return text
	}
	return strconv.Quote(text)
}
