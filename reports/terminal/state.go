package terminal

import (
	"fmt"
	"io"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// State writes the world at one step of a run: who holds the lock and who
// believes so, the keys of each server with the time that they have left, the
// store, and the bytes under way. Errors and concurrency are as for
// [Run].
func State(w io.Writer, at reports.Moment, s *outcome.State, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(moment(at, s, opt))
	p.Add(clients(s, opt))
	p.Add(nodes(s, opt))
	p.Add(store(s))
	p.Add(flights(s, opt))
	if opt.Replay != "" {
		p.Add([]string{"replay: " + opt.Replay})
	}
	return p.Render(w)
}

func moment(at reports.Moment, s *outcome.State, opt reports.Options) []string {
	when := "after"
	if s.Over {
		when = "the run is over, after"
	}
	lines := []string{
		fmt.Sprintf("%s  lock %s  fencing %s", subject(fmt.Sprintf("seed %d", at.Seed), at.Scenario), at.Lock, at.Mode),
		fmt.Sprintf("%s step %d, at %s", when, s.Step, prose.Seconds(s.At)),
	}
	if s.Event == "" {
		return lines
	}
	for _, part := range prose.Fold(prose.Visible(s.Event), opt.Width-2) {
		lines = append(lines, "  "+part)
	}
	return lines
}

func clients(s *outcome.State, opt reports.Options) []string {
	t := table{sides: []side{left, left, left, left, right, right}}
	t.row("client", "is", "holds", "believes", "token", "lease left")
	for _, c := range s.Clients {
		t.row(c.Name, c.Condition, prose.YesNo(c.Holds), prose.YesNo(c.Believes), orNothing(c.Token), remaining(c))
	}
	return t.lines(opt.Colour)
}

func orNothing(token uint64) string {
	if token == 0 {
		return prose.Nothing
	}
	return fmt.Sprint(token)
}

func remaining(c outcome.ClientState) string {
	if c.Token == 0 && c.Left == 0 {
		return prose.Nothing
	}
	return prose.Seconds(c.Left)
}

func nodes(s *outcome.State, opt reports.Options) []string {
	t := table{sides: []side{left, left, right, left}}
	t.row("node", "key", "to live", "value")
	for _, n := range s.Nodes {
		if len(n.Keys) == 0 {
			t.row(called(n), "(no keys)")
		}
		for _, k := range n.Keys {
			t.row(called(n), prose.Visible(k.Name), scene.TTLText(k.TTL), prose.Visible(k.Value))
		}
	}
	return t.lines(opt.Colour)
}

// called is the name of a node, with its role if it has one.
func called(n outcome.NodeState) string {
	if n.Role == "" {
		return n.Name
	}
	return n.Name + " (" + n.Role + ")"
}

func store(s *outcome.State) []string {
	lines := []string{fmt.Sprintf("store s0, highest token seen: %s", orNothing(s.Highest))}
	for _, register := range s.Store {
		lines = append(lines, "  "+prose.Visible(register))
	}
	if len(s.Store) == 0 {
		lines = append(lines, "  (nothing was written)")
	}
	return lines
}

func flights(s *outcome.State, opt reports.Options) []string {
	if len(s.Flights) == 0 {
		return []string{"no bytes in flight"}
	}
	t := table{sides: []side{left, right}}
	for _, f := range s.Flights {
		t.row("  "+f.From+" → "+f.To, fmt.Sprint(f.Bytes))
	}
	return append([]string{"bytes in flight"}, t.lines(opt.Colour)...)
}
