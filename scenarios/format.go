package scenarios

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locksim/faults"
	"locksim/lock/fence"
)

// Format is the scenario as a file that Parse reads back to an equal one, all
// defaults written out. It returns the error of Validate, and one for a fault
// whose action the format does not have. Only a text of thousands of characters
// can make the file too long for Parse.
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
	b.WriteString(formatExpect(s))
	return []byte(b.String()), nil
}

// formatSetting is the world, the lock and the workload.
func formatSetting(s *Scenario) string {
	timeout, w := "", s.Workload
	if w.Timeout > 0 {
		timeout = fmt.Sprintf(", timeout: %v", w.Timeout)
	}
	return fmt.Sprintf("world: {redis: %d, clients: %d, latency: %v}\n", s.World.Redis, s.World.Clients, s.World.Latency) +
		fmt.Sprintf("lock: {kind: %s, ttl: %v, backoff: %v}\n", scalar(s.Lock.Kind), s.Lock.TTL, s.Lock.Backoff) +
		fmt.Sprintf("workload: {rounds: %d, hold: %v, think: %v, stagger: %v%s, checks_until: %s}\n",
			w.Rounds, w.Hold, w.Think, w.Stagger, timeout, w.ChecksUntil)
}

func formatTrigger(f faults.Fault) string {
	if f.When == nil {
		return fmt.Sprintf("at: %v", f.At)
	}
	return fmt.Sprintf("when: {client: %s, event: %s, nth: %d}", f.When.Client, scalar(f.When.Name), f.When.Nth)
}

func formatAction(action faults.Action) (string, error) {
	switch a := action.(type) {
	case faults.Pause:
		return fmt.Sprintf("pause: {process: %s, for: %v}", a.Process, a.For), nil
	case faults.Crash:
		return fmt.Sprintf("crash: {process: %s%s}", a.Process, optional("mode", a.Mode)), nil
	case faults.Partition:
		return formatPartition(a), nil
	}
	return "", fmt.Errorf("a %T cannot be written to a file", action)
}

func formatPartition(p faults.Partition) string {
	out := fmt.Sprintf("partition: {between: [%s]", strings.Join(p.Between, ", "))
	if len(p.And) > 0 {
		out += fmt.Sprintf(", and: [%s]", strings.Join(p.And, ", "))
	}
	if p.For > 0 {
		out += fmt.Sprintf(", for: %v", p.For)
	}
	return out + optional("bytes", p.Bytes) + optional("direction", p.Direction) + "}"
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

// optional is a further key of a group, if it has a value.
func optional[T ~string](key string, v T) string {
	if v == "" {
		return ""
	}
	return fmt.Sprintf(", %s: %s", key, string(v))
}

// plain is a word that means itself in YAML. Words that YAML reads as something
// else, such as null, are quoted like all other text.
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
