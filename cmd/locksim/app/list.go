package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"locksim/faults"
	"locksim/lock"
	"locksim/lock/broken"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/play"
)

// catalogue is what there is to run. Its JSON form is what list --json prints.
type catalogue struct {
	Scenarios []listedScenario `json:"scenarios"`
	Locks     []listedLock     `json:"locks"`
	Specimens []listedThing    `json:"specimens"`
	Faults    []listedThing    `json:"faults"`
	Fencing   []listedThing    `json:"fencing"`
	// FailureModes is where to watch what goes wrong with locks in the field.
	FailureModes []listedMode `json:"failure_modes"`
}

type listedScenario struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Lock  string `json:"lock"`
	// Locks are those that the scenario is about, Catalogue the failure modes
	// that it shows.
	Locks     []string `json:"locks"`
	Catalogue []string `json:"catalogue,omitempty"`
}

type listedMode struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Scenarios []string `json:"scenarios,omitempty"`
	Missing   string   `json:"missing,omitempty"`
}

type listedLock struct {
	Name   string `json:"name"`
	Tokens bool   `json:"tokens"`
	Nodes  int    `json:"nodes"`
	// Promise is what the lock is judged by.
	Promise lock.Promise `json:"promise"`
}

type listedThing struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// rules says in a line what each fencing mode does.
var rules = map[fence.Mode]string{
	fence.None:   "the store takes everything",
	fence.Check:  "the store refuses a write whose token is below the highest written",
	fence.Seal:   "the same, and reads count too: a read with a higher token shuts out the lower ones",
	fence.Strict: "the same, and a token belongs to the first grant that sends it",
	fence.Claim:  "a read claims the resource for its grant, and a write needs the claim; needs no tokens",
	fence.CAS:    "a write needs the version that its client has read; needs no lock",
}

func (s listing) listCommand() *cobra.Command {
	var asJSON, modes bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List scenarios, locks, faults and fencing modes",
		Example: "  locksim list\n  locksim list --catalogue\n  locksim list --json",
		Args:    exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			c, err := s.catalogue()
			if err != nil {
				return &brokenError{cause: err}
			}
			if asJSON {
				return s.printJSON(c)
			}
			if modes {
				return s.print(c.writeModes(s.out))
			}
			return s.print(c.write(s.out))
		},
	}
	cmd.Flags().BoolVar(&modes, "catalogue", false, "list the known failure modes of locks, and the scenarios that show them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func (s listing) catalogue() (*catalogue, error) {
	all, err := file.Library()
	if err != nil {
		return nil, err
	}
	c := &catalogue{}
	for _, sc := range all {
		c.Scenarios = append(c.Scenarios, listedScenario{sc.Name, sc.Title, sc.Lock.Kind, sc.LockNames(), sc.Catalogue})
	}
	modes, err := file.Catalogue()
	if err != nil {
		return nil, err
	}
	for _, m := range modes {
		c.FailureModes = append(c.FailureModes, listedMode(m))
	}
	locks, err := s.locks()
	if err != nil {
		return nil, err
	}
	for _, l := range locks {
		c.Locks = append(c.Locks, listedLock{l.Name, l.Tokens, l.Nodes(), l.Promise})
	}
	for _, b := range broken.All() {
		text := fmt.Sprintf("%s, faults: %s, seen by %s in mode %s", b.ID, b.Faults, b.Detector, b.Mode)
		c.Specimens = append(c.Specimens, listedThing{"broken/" + b.Name, text})
	}
	for _, k := range faults.Kinds() {
		c.Faults = append(c.Faults, listedThing{k.Name, k.Text})
	}
	for _, m := range fence.Modes() {
		c.Fencing = append(c.Fencing, listedThing{string(m), rules[m]})
	}
	return c, nil
}

// locks are those that come with locksim, and the user's own.
func (s listing) locks() ([]play.Lock, error) {
	var all []play.Lock
	for _, kind := range kinds.Names() {
		l, err := play.Kind(kind)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return append(all, s.extra...), nil
}

func (s *shell) lockNames() []string {
	names := kinds.Names()
	for _, l := range s.extra {
		names = append(names, l.Name)
	}
	return names
}

// writeModes lists the failure modes with their scenarios.
func (c *catalogue) writeModes(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range c.FailureModes {
		where := strings.Join(m.Scenarios, ", ")
		if m.Missing != "" {
			where = "none: " + m.Missing
		}
		if _, err := fmt.Fprintf(t, "%s\t%s\t%s\n", m.ID, m.Name, where); err != nil {
			return err
		}
	}
	return t.Flush()
}

func (c *catalogue) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var err error
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(t, format+"\n", args...)
		}
	}
	line("scenarios")
	for _, s := range c.Scenarios {
		line("  %s\t%s", s.Name, s.Title)
	}
	line("\nlocks")
	for _, l := range c.Locks {
		line("  %s\t%s", l.Name, l.text())
	}
	line("\npromises")
	for _, p := range c.promises() {
		line("  %s:\n    %s", p.Name, strings.ReplaceAll(p.Text, "; ", "\n    "))
	}
	for _, part := range []struct {
		title string
		list  []listedThing
	}{{"specimens: locks that are wrong on purpose", c.Specimens}, {"faults", c.Faults}, {"fencing modes", c.Fencing}} {
		line("\n%s", part.title)
		for _, thing := range part.list {
			line("  %s\t%s", thing.Name, thing.Text)
		}
	}
	if err != nil {
		return err
	}
	return t.Flush()
}

// promises are what the locks promise, with those together that promise the
// same.
func (c *catalogue) promises() []listedThing {
	var out []listedThing
	for _, l := range c.Locks {
		text := play.DescribePromise(l.Promise)
		i := slices.IndexFunc(out, func(p listedThing) bool { return p.Text == text })
		if i < 0 {
			out = append(out, listedThing{l.Name, text})
			continue
		}
		out[i].Name += ", " + l.Name
	}
	return out
}

func (l listedLock) text() string {
	servers := "one server"
	if l.Nodes > 1 {
		servers = fmt.Sprintf("%d servers", l.Nodes)
	}
	if l.Tokens {
		return servers + ", mints fencing tokens"
	}
	return servers + ", mints no tokens"
}
