package file

import (
	"fmt"
	"strings"
	"time"

	"locksim/faults"
)

func formatTrigger(f faults.Fault) string {
	if f.When == nil {
		return fmt.Sprintf("at: %v", f.At)
	}
	trigger := fmt.Sprintf("when: {client: %s, event: %s, nth: %d}", f.When.Client, scalar(f.When.Name), f.When.Nth)
	if f.After > 0 {
		trigger += fmt.Sprintf("\n    after: %v", f.After)
	}
	return trigger
}

// formatAction is an action under its key. What has no value is left out.
func formatAction(action faults.Action) (string, error) {
	group, ok := formatProcess(action)
	if !ok {
		group, ok = formatLinks(action)
	}
	if !ok {
		group, ok = formatNode(action)
	}
	if !ok {
		return "", fmt.Errorf("a %T cannot be written to a file", action)
	}
	return fmt.Sprintf("%s: {%s}", action.Kind(), strings.TrimPrefix(group, ", ")), nil
}

func formatProcess(action faults.Action) (group string, ok bool) {
	switch a := action.(type) {
	case faults.Pause:
		return entry("process", a.Process) + entry("for", a.For), true
	case faults.Crash:
		return entry("process", a.Process) + entry("mode", a.Mode), true
	case faults.Restart:
		return entry("process", a.Process), true
	case faults.Slow:
		return entry("process", a.Process) + entry("by", a.By) + entry("for", a.For), true
	case faults.KillWorker:
		return entry("process", a.Process), true
	case faults.ExhaustPool:
		return entry("process", a.Process) + entry("for", a.For), true
	case faults.ClockJump:
		return entry("clock", a.Clock) + entry("by", a.By), true
	case faults.ClockDrift:
		return entry("clock", a.Clock) + entry("ppm", a.PPM) + entry("for", a.For), true
	case faults.ClockFreeze:
		return entry("clock", a.Clock) + entry("for", a.For), true
	}
	return "", false
}

func formatLinks(action faults.Action) (group string, ok bool) {
	switch a := action.(type) {
	case faults.Latency:
		return wire(a.Between, a.And, entry("add", a.Add)+entry("jitter", a.Jitter), a.For, a.Direction), true
	case faults.Bandwidth:
		return wire(a.Between, a.And, entry("rate", a.Rate), a.For, a.Direction), true
	case faults.Slice:
		return wire(a.Between, a.And, entry("size", a.Size)+entry("delay", a.Delay), a.For, a.Direction), true
	case faults.SlowClose:
		return wire(a.Between, a.And, entry("delay", a.Delay), a.For, a.Direction), true
	case faults.LoseReply:
		return wire(a.Between, a.And, entry("count", a.Count), 0, ""), true
	case faults.DelayMessage:
		return wire(a.Between, a.And, entry("by", a.By), 0, a.Direction), true
	case faults.Partition:
		return wire(a.Between, a.And, "", a.For, "") + entry("bytes", a.Bytes) + entry("direction", a.Direction), true
	case faults.Reset:
		return wire(a.Between, a.And, "", 0, ""), true
	}
	return "", false
}

func formatNode(action faults.Action) (group string, ok bool) {
	switch a := action.(type) {
	case faults.Refuse:
		return entry("node", a.Node) + entry("for", a.For), true
	case faults.Stall:
		return entry("node", a.Node) + entry("for", a.For), true
	case faults.Failover:
		return entry("to", a.To) + entry("old", a.Old) + entries("clients", a.Clients), true
	case faults.Evict:
		return entry("node", a.Node) + entry("policy", a.Policy) + entry("keys", a.Keys), true
	case faults.Flush:
		return entry("node", a.Node) + entry("what", a.What), true
	case faults.ReadOnly:
		return entry("node", a.Node) + entry("for", a.For), true
	}
	return "", false
}

// wire is where a fault of the network strikes, and how: what, how long, and
// which way.
func wire(between, and []string, what string, d time.Duration, way faults.Direction) string {
	return entries("between", between) + entries("and", and) + what + entry("for", d) + entry("direction", way)
}

// entry is one more key of a group, unless it has the zero value. Valid names
// and choices need no quotes.
func entry[T comparable](key string, v T) string {
	var none T
	if v == none {
		return ""
	}
	return fmt.Sprintf(", %s: %v", key, v)
}

func entries(key string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(", %s: [%s]", key, strings.Join(names, ", "))
}
