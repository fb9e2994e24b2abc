package tunings

import (
	"fmt"
	"strconv"
	"strings"
)

// LeadersLegend says how a table of troubles is read.
const LeadersLegend = "A trouble begins at any instant between two renewals. “40 %”: from 40 % of these instants on " +
	"it costs the leader; “perhaps”, or a range: chance decides, such as a jitter. Two lead where the old leader acts " +
	"and has not been told."

// LeadersNotCounted says what the seconds and shares of elections leave out.
const LeadersNotCounted = "A request in an outage fails at once here. Where it hangs until a time limit, as when a " +
	"network drops all, fewer tries fit into the same time. One candidate waits; more of them are elected sooner. A " +
	"leader that is cut off alone, while its servers and candidates go on, is not counted."

// Words is what the system is called in a sentence.
func (s System) Words() string {
	return map[System]string{Kubernetes: "Kubernetes", Consul: "Consul", ZooKeeper: "ZooKeeper", Etcd: "etcd"}[s]
}

// Title is the system and the setting: "Kubernetes 15/10/2".
func (s Setting) Title() string { return s.System.Words() + " " + s.Name }

// Sentence has the times by the names that the system has for them.
func (s Setting) Sentence() string {
	var parts []string
	for _, t := range s.Times {
		parts = append(parts, t.Name+" "+Seconds(t.Seconds))
	}
	return strings.Join(parts, ", ")
}

// TroubleHeads are the heads of the columns of [Trouble.Cells].
func TroubleHeads() []string {
	return []string{"trouble", "leader lost", "two lead for", "none leads for"}
}

// Cells are the trouble in a row of a table.
func (t Trouble) Cells() []string {
	name := string(t.Kind)
	if t.Kind != Crash {
		name += " of " + Seconds(t.Seconds)
	}
	if t.Lost.Most == 0 {
		return []string{name, "no", "–", "–"}
	}
	return []string{name, t.lost(), t.TwoSeconds.seconds(), t.NoneSeconds.seconds()}
}

func (t Trouble) lost() string {
	switch l := t.Lost; {
	case l.Least == 1:
		return "yes"
	case l.Least == 0 && l.Most == 1:
		return "perhaps"
	case l.Least == 0:
		return "up to " + percent(l.Most) + " %"
	case percent(l.Least) == percent(l.Most):
		return percent(l.Least) + " %"
	default:
		return percent(l.Least) + " to " + percent(l.Most) + " %"
	}
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 3, 64) }

// seconds is a length of time in a cell.
func (s Span) seconds() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	switch {
	case s.Most == 0:
		return "no time"
	case s.Least == s.Most:
		return number(s.Most) + " s"
	case s.Least == 0:
		return "up to " + number(s.Most) + " s"
	}
	return number(s.Least) + " to " + number(s.Most) + " s"
}

// Sentence says what is wished.
func (w Wish) Sentence() string {
	return fmt.Sprintf("An outage of %s is to cost no leader, and a crash is to leave none for %s at most.",
		Seconds(w.SurviveSeconds), Seconds(w.BoundSeconds))
}

// Sentence says what is recommended, or why nothing is.
func (a Advice) Sentence() string {
	if a.Setting == nil {
		return fmt.Sprintf("%s: impossible, since %s.", a.System.Words(), a.Impossible)
	}
	text := fmt.Sprintf("%s: %s", a.System.Words(), a.Setting.Sentence())
	if a.Setting.Retries > 0 {
		text += fmt.Sprintf(", MonitorRetries %d", a.Setting.Retries)
	}
	for _, t := range a.Setting.Troubles {
		if t.Kind == Crash {
			text += fmt.Sprintf("; a crash leaves none for %s", t.NoneSeconds.seconds())
		}
	}
	return text + "; " + a.Because + "."
}
