package file

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"locksim/faults"
)

// What Format writes of an action of any kind, Parse reads.
func TestFormatRoundTripOfEveryAction(t *testing.T) {
	for _, k := range faults.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := Defaults()
				want.Name, want.World.Redis, want.World.Replicas = "round", 5, MaxReplicas
				if world := map[faults.Role]string{
					faults.Watchers: "redis: 1, replicas: 1, sentinel: 3", faults.ClusterNodes: "cluster: 6",
					faults.Members: "etcd: 3",
				}[k.Needs()]; world != "" {
					with, err := Parse("with.yaml", fmt.Appendf(nil, "name: with\nworld: {%s}\n", world))
					if err != nil {
						t.Fatal(err)
					}
					want.World.Servers = with.World.Servers
				}
				d := faultDrawer{t, want, "the fault"}
				want.Faults = []faults.Fault{d.fault(k.Name)}
				if got := want.Faults[0].Action.Kind(); got != k.Name {
					t.Fatalf("drew %s for %s", got, k.Name)
				}
				source, err := Format(want)
				if err != nil {
					t.Fatalf("%v\n%+v", err, want.Faults)
				}
				got, err := Parse("round.yaml", source)
				if err != nil {
					t.Fatalf("%v\n%s", err, source)
				}
				if diff := cmp.Diff(want, got, ignoreSource); diff != "" {
					t.Fatalf("read back (-want +got):\n%s\n%s", diff, source)
				}
			})
		})
	}
}

// faultDrawer draws a fault that fits a scenario.
type faultDrawer struct {
	t     *rapid.T
	s     *Scenario
	label string
}

// drawFault draws a fault of any kind that the scenario can have.
func drawFault(t *rapid.T, s *Scenario, i int) faults.Fault {
	d := faultDrawer{t, s, fmt.Sprint("fault ", i)}
	var names []string
	for _, k := range faults.Kinds() {
		if k.Needs() == 0 && (k.Name != "failover" || s.World.Replicas > 0) {
			names = append(names, k.Name)
		}
	}
	return d.fault(rapid.SampledFrom(names).Draw(t, d.label+" kind"))
}

// fault draws a fault of a kind, which may strike several times.
func (d faultDrawer) fault(kind string) faults.Fault {
	f := d.once(kind)
	if rapid.IntRange(0, 3).Draw(d.t, d.label+" repeats") == 0 {
		f.Every = d.time("every", time.Millisecond)
		f.Times = rapid.IntRange(0, faults.MaxTimes).Draw(d.t, d.label+" times")
	}
	if rapid.IntRange(0, 3).Draw(d.t, d.label+" may") == 0 {
		f.Probability = rapid.IntRange(0, 99).Draw(d.t, d.label+" probability")
	}
	return f
}

func (d faultDrawer) once(kind string) faults.Fault {
	if !rapid.Bool().Draw(d.t, d.label+" by event") {
		return faults.Fault{At: d.time("at", 0), Action: d.action(kind)}
	}
	name := rapid.SampledFrom(append(faults.Events(), "null", "my-point", "true")).Draw(d.t, d.label+" event")
	nth := rapid.IntRange(1, d.s.Workload.Rounds).Draw(d.t, d.label+" nth")
	return faults.Fault{
		When:  &faults.Event{Client: d.of(d.names(faults.Clients)), Name: name, Nth: nth},
		After: d.time("after", 0), Action: d.action(kind),
	}
}

// action fills in a form, with anything that each of its fields can hold.
func (d faultDrawer) action(kind string) faults.Action {
	form := formOf(kind)
	for _, field := range form.Fields {
		switch h := field.Holds.(type) {
		case faults.Name:
			*h.To = d.of(d.names(h.Role))
		case faults.Names:
			switch {
			case h.Side == faults.Near:
				*h.To = []string{d.of(d.names(faults.Clients))}
			case h.Side == faults.Far:
				*h.To = d.some(d.names(faults.Servers|faults.Store), field.Needed())
			default:
				*h.To = d.some(d.names(h.Role), field.Needed())
			}
		case faults.Word:
			*h.To = rapid.SampledFrom(h.Words).Draw(d.t, d.label+" choice")
		case faults.Count:
			*h.To = rapid.IntRange(1, h.Most).Draw(d.t, d.label+" number")
		case faults.Deviation:
			*h.To = rapid.OneOf(rapid.Int64Range(h.Least, -1), rapid.Int64Range(1, h.Most)).Draw(d.t, d.label+" number")
		case faults.Length:
			*h.To = d.time(field.Key, 0)
			if h.Ends {
				*h.To = d.time(field.Key, 1)
			}
		case faults.Offset:
			*h.To = max(d.time(field.Key, 1).Truncate(max(h.Unit, 1)), h.Unit, 1)
			if h.EitherWay && rapid.Bool().Draw(d.t, d.label+" back") {
				*h.To = -*h.To
			}
		default:
			d.t.Fatalf("%s.%s holds a %T", kind, field.Key, h)
		}
	}
	if reply, ok := form.Action().(faults.ErrorReply); ok {
		reply.Error = rapid.SampledFrom(faults.ReplyErrors(reply.Node)).Draw(d.t, d.label+" error") // each server has its own
		return reply
	}
	return form.Action()
}

// formOf is an empty form of a kind.
func formOf(kind string) faults.Form {
	all := faults.Kinds()
	return all[slices.IndexFunc(all, func(f faults.Form) bool { return f.Name == kind })]
}

// names are those of a role.
func (d faultDrawer) names(role faults.Role) []string {
	var out []string
	for _, r := range (checked{d.s}).roles(role) {
		out = append(out, r.names...)
	}
	return out
}

func (d faultDrawer) of(names []string) string {
	return rapid.SampledFrom(names).Draw(d.t, d.label+" name")
}

// some are several of the names, each once; possibly none if none is needed.
func (d faultDrawer) some(names []string, needed bool) []string {
	least := 0
	if needed {
		least = 1
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom(names), least, len(names), rapid.ID[string]).Draw(d.t,
		d.label+" names")
}

func (d faultDrawer) time(field string, least time.Duration) time.Duration {
	return drawDuration(d.t, d.label+" "+field, least)
}
