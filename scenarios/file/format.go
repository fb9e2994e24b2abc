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
	return fmt.Sprintf("world: {%s}\n", formatWorld(s.World)) +
		fmt.Sprintf("lock: {%s}\n", formatLock(s.Lock)) +
		fmt.Sprintf("workload: {%s}\n", formatWorkload(s.Workload))
}

func formatWorld(w World) string {
	d := Defaults().World
	var servers strings.Builder
	if w.Redis > 0 || len(w.Servers) == 0 {
		fmt.Fprintf(&servers, "redis: %d, ", w.Redis)
	}
	for _, s := range w.Servers {
		fmt.Fprintf(&servers, "%s: %d, ", s.Kind, s.Count)
	}
	return servers.String() + fmt.Sprintf("clients: %d, latency: %v", w.Clients, w.Latency) +
		unless("replicas", w.Replicas, d.Replicas) + unless("lag", w.Lag, d.Lag) +
		unless("persistence", w.Persistence, d.Persistence) + unless("snapshot", w.Snapshot, d.Snapshot) + unless("skew", w.Skew, d.Skew)
}

func formatLock(l LockSpec) string {
	d := Defaults().Lock
	return fmt.Sprintf("kind: %s, ttl: %v, backoff: %v", scalar(l.Kind), l.TTL, l.Backoff) +
		unless("client", l.Client, d.Client) + unless("wait", l.Wait, d.Wait) + unless("owner", l.Owner, d.Owner) +
		unless("nodes", l.Nodes, d.Nodes)
}

func formatWorkload(w Workload) string {
	d := Defaults().Workload
	return fmt.Sprintf("rounds: %d, hold: %v, think: %v, stagger: %v", w.Rounds, w.Hold, w.Think, w.Stagger) +
		unless("timeout", w.Timeout, d.Timeout) + fmt.Sprintf(", checks_until: %s", w.ChecksUntil) +
		unless("kind", w.Kind, d.Kind) + unless("nested", w.Nested, d.Nested) +
		unless("request", w.Request, d.Request) + unless("deadline", w.Deadline, d.Deadline) + unless("data", w.Data, d.Data) + unless("tries", w.Tries, d.Tries) +
		unless("extend", w.Extend, d.Extend) +
		unless("acquire_within", w.AcquireWithin, d.AcquireWithin) + unless("extend_within", w.ExtendWithin, d.ExtendWithin) +
		unless("release_within", w.ReleaseWithin, d.ReleaseWithin) +
		resources(w.Resources, d.Resources) + unless("release", w.Release, d.Release) + unless("look", w.Look, d.Look) + formatSection(w.Section)
}

// resources is the key of the resources, if they are not the default.
func resources(list, byDefault []string) string {
	if len(list) == 0 || slices.Equal(list, byDefault) {
		return ""
	}
	return ", " + strings.TrimSuffix(formatWords("resources", list), "\n")
}

// unless is a further key of a group, if its value is not the default.
func unless[T comparable](key string, v, byDefault T) string {
	var none T
	if v == none || v == byDefault {
		return ""
	}
	return fmt.Sprintf(", %s: %v", key, v)
}

// formatWords is a list of words under a top-level key; "" without words.
func formatWords(key string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	quoted := make([]string, len(list))
	for i, word := range list {
		quoted[i] = scalar(word)
	}
	return fmt.Sprintf("%s: [%s]\n", key, strings.Join(quoted, ", "))
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
