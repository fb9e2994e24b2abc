package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/roster"
	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/lock/broken/mistake"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// List is what locksim offers: the JSON that the command list prints.
type List struct {
	// Scenarios are the scenarios of the library, sorted by name.
	Scenarios []ListedScenario `json:"scenarios"`
	// Locks are the built-in locks, then the program's own.
	Locks []ListedLock `json:"locks"`
	// Specimens are locks that are wrong on purpose.
	Specimens []ListedEntry `json:"specimens"`
	// Fences are protected stores that can be under test, those that are wrong on purpose last.
	Fences []ListedEntry `json:"fences"`
	// Faults are the kinds of fault.
	Faults []ListedFault `json:"faults"`
	// Servers are the kinds of servers: Redis, then those of the program's own locks.
	Servers []ListedServer `json:"servers"`
	// Fencing are the fencing modes.
	Fencing []ListedEntry `json:"fencing"`
	// FailureModes are the known ways in which locks fail in practice.
	FailureModes []file.FailureMode `json:"failure_modes"`
	// Commands are the commands with their flags.
	Commands []ListedCommand `json:"commands,omitempty"`
}

// ListedFault is a kind of fault. Its fields are enough to make a form.
type ListedFault struct {
	// Name is the key in a scenario file.
	Name string `json:"name"`
	// Text says in a line what it does.
	Text string `json:"text"`
	// Class is the class that promises and --faults name.
	Class string `json:"class" jsonschema:"minLength=0"`
	// Fields are the fields, in the order of a file.
	Fields []ListedField `json:"fields"`
}

// ListedField is a field of a fault.
type ListedField struct {
	// Key is the key in a scenario file.
	Key string `json:"key"`
	// Type is what it holds: the name of a participant, names of several, one of words, a number, or a duration such as
	// 1.5s.
	Type string `json:"type" jsonschema:"enum=name,enum=names,enum=word,enum=number,enum=duration"`
	// Text says what for.
	Text string `json:"text" jsonschema:"minLength=0"`
	// Domain says in words what it may hold.
	Domain string `json:"domain"`
	// Example is a value.
	Example string `json:"example"`
	// Needed says whether a file must have it.
	Needed bool `json:"needed"`
	// Default is the value, or in words the meaning, of a field that is left out.
	Default string `json:"default,omitempty"`
	// Words are the values of a word.
	Words []string `json:"words,omitempty"`
	// Unit is what a number counts; durations have their unit in the value.
	Unit string `json:"unit,omitempty"`
	// Least is the least number.
	Least *int64 `json:"least,omitempty" jsonschema:"minimum=-1000000000"`
	// Most is the greatest number.
	Most *int64 `json:"most,omitempty"`
}

// ListedCommand is a command.
type ListedCommand struct {
	// Name is its name.
	Name string `json:"name"`
	// Usage is how it is called.
	Usage string `json:"usage"`
	// Text says in a line what it does.
	Text string `json:"text"`
	// Flags are its flags.
	Flags []ListedFlag `json:"flags"`
}

// ListedFlag is a flag.
type ListedFlag struct {
	// Name is its name, without the hyphens.
	Name string `json:"name"`
	// Type is the type of its value, bool for a flag without one.
	Type string `json:"type"`
	// Value is what its value is called.
	Value string `json:"value,omitempty"`
	// Default is its default, if it is not empty.
	Default string `json:"default,omitempty"`
	// Text says what it does.
	Text string `json:"text"`
}

// ListedScenario is a scenario of the library.
type ListedScenario struct {
	// Name is the name of the scenario.
	Name string `json:"name"`
	// Title is what the scenario is about.
	Title string `json:"title"`
	// Lock is the lock that it runs with by default.
	Lock string `json:"lock"`
	// Locks are the locks that the scenario is about.
	Locks []string `json:"locks"`
	// Catalogue are the failure modes that it shows, by their ids.
	Catalogue []string `json:"catalogue,omitempty" jsonschema:"pattern=^F[0-9][0-9]+$"`
}

// ListedLock is a lock.
type ListedLock struct {
	// Name is the name of the lock.
	Name string `json:"name"`
	// Tokens says whether it mints fencing tokens.
	Tokens bool `json:"tokens"`
	// Nodes is how many servers it needs.
	Nodes int `json:"nodes" jsonschema:"minimum=1"`
	// Servers names them, with their kinds: "5 redis".
	Servers string `json:"servers"`
	// ForWhom says for whom the lock is; empty where its author has not written that.
	ForWhom string `json:"for_whom,omitempty"`
	// Promise is what the lock is judged by.
	Promise lock.Promise `json:"promise"`
	// Settings are those that a scenario may have under lock.settings.
	Settings []ListedSetting `json:"settings,omitempty"`
}

// ListedSetting is a setting of a lock.
type ListedSetting struct {
	// Name is the key in a scenario file.
	Name string `json:"name"`
	// InLibrary is what the library of the lock calls it.
	InLibrary string `json:"in_library,omitempty"`
	// Text says what it is.
	Text string `json:"text"`
	// Default is what it is where a scenario leaves it out, with the TTL of 10s that scenarios have by default.
	Default string `json:"default"`
}

// ListedServer is a kind of server.
type ListedServer struct {
	// Name is its key under world in a scenario file.
	Name string `json:"name"`
	// Lacks are the kinds of fault that cannot strike such a server.
	Lacks []string `json:"lacks"`
}

// ListedEntry is a name with its meaning.
type ListedEntry struct {
	// Name is the name in files and flags.
	Name string `json:"name"`
	// Text is the meaning, in a line.
	Text string `json:"text"`
}

// rules describes each fencing mode in a line.
var rules = map[fence.Mode]string{
	fence.None:   "the store accepts every write",
	fence.Check:  "the store refuses a write whose token is below the highest written",
	fence.Seal:   "the same, and reads count too: after a read with a higher token, lower ones are refused",
	fence.Strict: "the same, and a token belongs to the first grant that sends it",
	fence.Claim:  "a read claims the resource for its grant, and a write needs the claim; needs no tokens",
	fence.CAS:    "a write needs the version that its client has read; needs no lock",
}

func listCommand(s *shell) *cobra.Command {
	var asJSON, modes bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List scenarios, locks, faults and fencing modes",
		Long: `List prints the names that the other commands take: the scenarios of the library, with
what goes wrong in each; the locks, with what each promises; the faults; and the fencing
modes, which are the checks that the store can make before it accepts a write.`,
		Example: "  locksim list\n  locksim list --catalogue\n  locksim list --json",
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := NewList(s.Extra...)
			if err != nil {
				return &console.BrokenError{Cause: err}
			}
			if asJSON {
				c.Commands = listedCommands(cmd.Root())
				return s.PrintJSON(c)
			}
			if modes {
				return s.Print(c.writeModes(s.Out))
			}
			return s.Print(c.write(s.Out))
		},
	}
	cmd.Flags().BoolVar(&modes, "catalogue", false, "list the known failure modes of locks, and the scenarios that "+
		"show them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document; see locksim schema list")
	return cmd
}

// NewList lists what locksim offers; extra are the program's own locks.
func NewList(extra ...subject.Lock) (*List, error) {
	all, err := redislocks.Library(extra)
	if err != nil {
		return nil, err
	}
	c := &List{}
	for _, sc := range all {
		c.Scenarios = append(c.Scenarios, ListedScenario{sc.Name, sc.Title, sc.Lock.Kind, sc.LockNames(), sc.Catalogue})
	}
	if c.FailureModes, err = file.Catalogue(); err != nil {
		return nil, err
	}
	var locks []subject.Lock
	for _, kind := range kinds.Names() {
		l, err := redislocks.Kind(kind)
		if err != nil {
			return nil, err
		}
		locks = append(locks, l)
	}
	for _, l := range append(locks, extra...) {
		if l.TestsFence() || strings.HasPrefix(l.Name, kinds.BrokenPrefix) {
			continue
		}
		var settings []ListedSetting
		for _, s := range l.Settings {
			settings = append(settings, ListedSetting{s.Name, s.Elsewhere, s.Doc, s.Text(s.Default(file.Defaults().Lock.TTL))})
		}
		c.Locks = append(c.Locks, ListedLock{l.Name, l.Tokens, l.Nodes(), serversText(l), l.ForWhom, l.Promise, settings})
	}
	for _, b := range mistake.All() {
		text := fmt.Sprintf("%s, faults: %s, seen by %s in mode %s", b.ID, cmp.Or(string(b.Fault), spaces.NoFaults),
			b.Detector, b.Mode)
		c.Specimens = append(c.Specimens, ListedEntry{"broken/" + b.Name, text})
	}
	for _, l := range extra {
		if !l.TestsFence() && strings.HasPrefix(l.Name, kinds.BrokenPrefix) {
			c.Specimens = append(c.Specimens, ListedEntry{l.Name, l.About})
		}
	}
	c.Fences = []ListedEntry{}
	for _, name := range (roster.Roster{Extra: extra}).Fences() {
		l, err := redislocks.Find(name, extra)
		if _, missing := errors.AsType[*subject.MissingError](err); err != nil && !missing {
			return nil, err
		}
		c.Fences = append(c.Fences, ListedEntry{name, l.About})
	}
	for _, k := range faults.Kinds() {
		c.Faults = append(c.Faults, listedFault(k))
	}
	c.Servers = []ListedServer{{server.Redis.Name, []string{}}}
	for _, kind := range subject.ServerNames(extra...) {
		c.Servers = append(c.Servers, ListedServer{kind.Name, append([]string{}, kind.Lacks...)})
	}
	for _, m := range fence.Modes() {
		c.Fencing = append(c.Fencing, ListedEntry{string(m), rules[m]})
	}
	return c, nil
}

// writeModes lists the failure modes with their scenarios.
func (c *List) writeModes(w io.Writer) error {
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

func (c *List) write(w io.Writer) error {
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
	line("\nlocks, with their servers, whether they mint fencing tokens, and for whom they are")
	for _, l := range c.Locks {
		line("  %s\t%s", l.Name, l.text())
	}
	c.writeSettings(line)
	line("\npromises")
	for _, p := range c.promises() {
		line("  %s:\n    %s", p.Name, strings.ReplaceAll(p.Text, "; ", "\n    "))
	}
	var kinds []ListedEntry
	for _, f := range c.Faults {
		kinds = append(kinds, ListedEntry{f.Name, f.Text})
	}
	for _, part := range []struct {
		title string
		list  []ListedEntry
	}{{"specimens: locks that are wrong on purpose", c.Specimens},
		{"fences: protected stores that explore --fence puts on trial", c.Fences}, {"faults", kinds},
		{"fencing modes", c.Fencing}} {
		line("\n%s", part.title)
		for _, entry := range part.list {
			line("  %s\t%s", entry.Name, entry.Text)
		}
	}
	line("\nservers, and which faults strike them")
	for _, s := range c.Servers {
		line("  %s\t%s", s.Name, s.text())
	}
	if err != nil {
		return err
	}
	return t.Flush()
}

// writeSettings writes the settings of the locks that have some.
func (c *List) writeSettings(line func(format string, args ...any)) {
	begun := false
	for _, l := range c.Locks {
		for i, s := range l.Settings {
			if !begun {
				line("\nsettings of locks, what their libraries call them, and what they are where a scenario leaves them out")
				begun = true
			}
			name := ""
			if i == 0 {
				name = l.Name
			}
			line("  %s\t%s, %s: %s; %s", name, s.Name, s.InLibrary, s.Text, s.Default)
		}
	}
}

func (s ListedServer) text() string {
	if len(s.Lacks) == 0 {
		return "all"
	}
	return "all but " + prose.Commas(s.Lacks)
}

// promises are the promises of the locks. Locks with the same promise share an entry.
func (c *List) promises() []ListedEntry {
	var out []ListedEntry
	for _, l := range c.Locks {
		text := subject.DescribePromise(l.Promise)
		i := slices.IndexFunc(out, func(p ListedEntry) bool { return p.Text == text })
		if i < 0 {
			out = append(out, ListedEntry{l.Name, text})
			continue
		}
		out[i].Name += ", " + l.Name
	}
	return out
}

// serversText is the number of servers of each kind that a lock needs: "5 redis".
func serversText(l subject.Lock) string {
	if l.Servers == nil {
		return "1 redis"
	}
	var parts []string
	for _, s := range l.Servers {
		parts = append(parts, fmt.Sprintf("%d %s", s.Count, s.Kind.Name))
	}
	return strings.Join(parts, ", ")
}

// text is what one chooses a lock by: its servers, its tokens, and for whom it is.
func (l ListedLock) text() string {
	tokens := "no tokens"
	if l.Tokens {
		tokens = "tokens"
	}
	return strings.TrimRight(l.Servers+"\t"+tokens+"\t"+l.ForWhom, "\t")
}

// listedFault is a kind of fault with its fields.
func listedFault(k faults.Form) ListedFault {
	out := ListedFault{Name: k.Name, Text: k.Text, Class: string(k.Class), Fields: []ListedField{}}
	for _, f := range k.Fields {
		_, example, _ := strings.Cut(f.Example(), ": ")
		field := ListedField{Key: f.Key, Text: f.Doc, Domain: f.Domain(), Example: example, Needed: f.Needed(),
			Default: f.Absent()}
		between := func(least, most int64) { field.Least, field.Most = &least, &most }
		switch h := f.Holds.(type) {
		case faults.Name:
			field.Type = "name"
		case faults.Names:
			field.Type = "names"
		case faults.Word:
			field.Type, field.Words = "word", h.Words
		case faults.Count:
			field.Type, field.Unit = "number", h.Units
			between(1, int64(h.Most))
		case faults.Deviation:
			field.Type, field.Unit = "number", h.Units
			between(h.Least, h.Most)
		default:
			field.Type = "duration"
		}
		out.Fields = append(out.Fields, field)
	}
	return out
}

// listedCommands are the commands of a command that are no secret, with their flags, each followed by its own ones,
// whose names begin with its name.
func listedCommands(of *cobra.Command) []ListedCommand {
	var out []ListedCommand
	for _, c := range of.Commands() {
		if !c.IsAvailableCommand() || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		above := ""
		if of.HasParent() {
			above = strings.TrimPrefix(of.CommandPath(), of.Root().CommandPath()+" ") + " "
		}
		l := ListedCommand{Name: above + c.Name(), Usage: above + c.Use, Text: c.Short, Flags: []ListedFlag{}}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			value, text := pflag.UnquoteUsage(f)
			def := f.DefValue
			if def == "[]" || def == "false" {
				def = ""
			}
			l.Flags = append(l.Flags, ListedFlag{Name: f.Name, Type: f.Value.Type(), Value: value, Default: def, Text: text})
		})
		out = append(append(out, l), listedCommands(c)...)
	}
	return out
}
