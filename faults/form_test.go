package faults_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/faults"
	"locksim/lock/promise"
)

// fillWithExamples fills every field of a form in.
func fillWithExamples(t *testing.T, f faults.Form) {
	t.Helper()
	for _, field := range f.Fields {
		text := strings.TrimPrefix(field.Example(), field.Key+": ")
		switch h := field.Holds.(type) {
		case faults.Name:
			*h.To = text
		case faults.Names:
			*h.To = []string{strings.Trim(text, "[]")}
		case faults.Word:
			*h.To = text
		case faults.Count:
			*h.To = h.Most
		case faults.Deviation:
			*h.To = h.Most
		case faults.Length:
			*h.To = time.Second
		case faults.Offset:
			*h.To = time.Second
		default:
			t.Fatalf("%s.%s holds a %T", f.Name, field.Key, h)
		}
	}
}

// A form leaves out no field of its action: whatever has been filled in is in the
// action, and is valid. Open gives it back.
func TestFormsHaveEveryField(t *testing.T) {
	seen := map[string]bool{}
	for _, form := range faults.Kinds() {
		if seen[form.Name] {
			t.Errorf("two kinds are called %s", form.Name)
		}
		seen[form.Name] = true
		fillWithExamples(t, form)
		action := form.Action()
		value := reflect.ValueOf(action)
		for i := range value.NumField() {
			if value.Field(i).IsZero() {
				t.Errorf("%s: the form does not have %s", form.Name, value.Type().Field(i).Name)
			}
		}
		if value.NumField() != len(form.Fields) {
			t.Errorf("%s: %d fields, and %d in its form", form.Name, value.NumField(), len(form.Fields))
		}
		if err := faults.Validate(action); err != nil {
			t.Errorf("%v: %v", action, err)
		}
		again, ok := faults.Open(action)
		if !ok || again.Name != form.Name || action.Kind() != form.Name || !reflect.DeepEqual(again.Action(), action) {
			t.Errorf("%v: opened again it is %v", action, again.Action())
		}
		if form.Text == "" || !slices.Contains(promise.Faults(), again.Class) {
			t.Errorf("%s: text %q, class %q", form.Name, form.Text, again.Class)
		}
	}
}

// What is changed in a form changes nothing else.
func TestOpenedActionsStayAsTheyAre(t *testing.T) {
	for _, kind := range faults.Kinds() {
		fillWithExamples(t, kind)
		action := kind.Action()
		before := reflect.ValueOf(action).Interface()
		form, _ := faults.Open(action)
		for _, field := range form.Fields {
			switch h := field.Holds.(type) {
			case faults.Name:
				*h.To = "c7"
			case faults.Names:
				*h.To = nil
			}
		}
		if !reflect.DeepEqual(before, action) || reflect.DeepEqual(form.Action(), action) {
			t.Errorf("%v has become %v, and the form %v", before, action, form.Action())
		}
	}
}

// Promises call every action by a class; whom it strikes and how hard tells
// which. Every action has one, and every class has an action.
func TestClasses(t *testing.T) {
	between := []string{"c0"}
	classes := map[promise.Fault]bool{"": true}
	for _, tt := range []struct {
		action faults.Action
		want   promise.Fault
	}{
		{faults.Pause{Process: "c0"}, promise.Pause},
		{faults.Crash{Process: "c0"}, promise.Crash},
		{faults.Crash{Process: "r0"}, promise.NodeCrash},
		{faults.Crash{Process: "c0", Mode: faults.CrashProcess}, promise.Crash},
		{faults.Crash{Process: "c0", Mode: faults.CrashPower}, promise.Power},
		{faults.Crash{Process: "r0a", Mode: faults.CrashPower}, promise.NodePower},
		{faults.Restart{Process: "c0"}, promise.Restart},
		{faults.Restart{Process: "r0a"}, promise.NodeCrash},
		{faults.Slow{Process: "c0"}, promise.Slow},
		{faults.KillWorker{Process: "c0"}, promise.Worker},
		{faults.ExhaustPool{Process: "c0"}, promise.Pool},
		{faults.ClockJump{Clock: "c0"}, promise.WallClock},
		{faults.ClockJump{Clock: "r0"}, promise.NodeClock},
		{faults.ClockDrift{Clock: "r0", PPM: 5_000}, promise.ClockDrift},
		{faults.ClockDrift{Clock: "c0", PPM: -5_000}, promise.ClockDrift},
		{faults.ClockDrift{Clock: "c0", PPM: 5_001}, promise.ClockRate},
		{faults.ClockDrift{Clock: "c0", PPM: -5_001}, promise.ClockRate},
		{faults.ClockFreeze{Clock: "c0"}, promise.ClockRate},
		{faults.Latency{Between: between}, promise.Latency},
		{faults.Bandwidth{Between: between}, promise.Latency},
		{faults.Slice{Between: between}, promise.Latency},
		{faults.SlowClose{Between: between}, promise.Latency},
		{faults.LoseReply{Between: between}, promise.Reset},
		{faults.DelayMessage{Between: between}, promise.Latency},
		{faults.Partition{Between: between}, promise.Partition},
		{faults.Reset{Between: between}, promise.Reset},
		{faults.Refuse{Node: "s0"}, promise.Reset},
		{faults.Stall{Node: "r0"}, promise.Stall},
		{faults.Failover{}, promise.Failover},
		{faults.Evict{Node: "r0"}, promise.Eviction},
		{faults.Flush{Node: "r0"}, promise.Flush},
		{faults.Flush{Node: "r0", What: faults.FlushScripts}, promise.Scripts},
		{faults.ReadOnly{Node: "r0"}, promise.ReadOnly},
		{faults.EditKey{Node: "r0"}, promise.Intervention},
		{faults.EndSession{Node: "e0"}, promise.Intervention},
		{unknownAction{}, ""},
	} {
		if got := faults.ClassOf(tt.action); got != tt.want {
			t.Errorf("%v: class %q, want %q", tt.action, got, tt.want)
		}
		classes[tt.want] = true
	}
	for _, f := range promise.Faults() {
		if !classes[f] {
			t.Errorf("no action is called %s", f)
		}
	}
}

// A node that comes back has the class of the crash behind which it does.
func TestClassOfARestart(t *testing.T) {
	crash := func(process string, mode faults.CrashMode) faults.Fault {
		return faults.Fault{Action: faults.Crash{Process: process, Mode: mode}}
	}
	for name, tt := range map[string]struct {
		process  string
		schedule []faults.Fault
		want     promise.Fault
	}{
		"nothing crashes": {"r0", nil, promise.NodeCrash},
		"a process ended": {"r0", []faults.Fault{crash("r0", "")}, promise.NodeCrash},
		"power was lost":  {"r0", []faults.Fault{crash("r0", faults.CrashPower)}, promise.NodePower},
		"both": {"r0", []faults.Fault{crash("r0", faults.CrashPower), crash("r0", faults.CrashProcess)},
			promise.NodeCrash},
		"that of another node": {"r0", []faults.Fault{crash("r0", faults.CrashPower), crash("r1", faults.CrashProcess)},
			promise.NodePower},
		"that of a client":          {"r0", []faults.Fault{crash("c0", faults.CrashPower)}, promise.NodeCrash},
		"the leader, by its number": {"e1", []faults.Fault{crash("leader", faults.CrashPower)}, promise.NodePower},
		"a client":                  {"c0", []faults.Fault{crash("c0", faults.CrashPower)}, promise.Restart},
	} {
		restart := faults.Restart{Process: tt.process}
		if got := faults.ClassIn(append(tt.schedule, faults.Fault{Action: restart}), restart); got != tt.want {
			t.Errorf("%s: class %q, want %q", name, got, tt.want)
		}
	}
}

// The classes of a kind are those of all that it can be.
func TestClassesOfAKind(t *testing.T) {
	want := map[string][]promise.Fault{
		"crash":       {promise.Crash, promise.Power, promise.NodeCrash, promise.NodePower},
		"restart":     {promise.Restart, promise.NodeCrash, promise.NodePower},
		"clock_jump":  {promise.WallClock, promise.NodeClock},
		"clock_drift": {promise.ClockDrift, promise.ClockRate},
		"flush":       {promise.Flush, promise.Scripts},
		"pause":       {promise.Pause},
	}
	for _, k := range faults.Kinds() {
		if classes, ok := want[k.Name]; ok && !slices.Equal(k.Classes(), classes) {
			t.Errorf("%s has the classes %q, want %q", k.Name, k.Classes(), classes)
		}
	}
}

// A length of 0 means until the world is healed, for every kind of action that
// has one; pauses always end.
func TestUntilHealed(t *testing.T) {
	long := []faults.Action{
		faults.Partition{}, faults.Slow{}, faults.ExhaustPool{}, faults.ClockDrift{}, faults.ClockFreeze{}, faults.Refuse{},
		faults.Stall{}, faults.ReadOnly{}, faults.Latency{}, faults.Bandwidth{}, faults.Slice{}, faults.SlowClose{},
	}
	short := []faults.Action{
		faults.Partition{For: 1}, faults.Slow{For: 1}, faults.ExhaustPool{For: 1}, faults.ClockDrift{For: 1},
		faults.ClockFreeze{For: 1},
		faults.Refuse{For: 1}, faults.Stall{For: 1}, faults.ReadOnly{For: 1}, faults.Latency{For: 1},
		faults.Bandwidth{For: 1},
		faults.Slice{For: 1}, faults.SlowClose{For: 1},
		faults.Pause{}, faults.Crash{}, faults.Restart{}, faults.KillWorker{}, faults.ClockJump{}, faults.LoseReply{},
		faults.DelayMessage{}, faults.Reset{}, faults.Failover{}, faults.Evict{}, faults.Flush{},
	}
	untilHealed := func(a faults.Action) bool { f, _ := faults.Open(a); return f.UntilHealed() }
	for _, a := range long {
		if !untilHealed(a) {
			t.Errorf("%v ends by itself", a)
		}
	}
	for _, a := range short {
		if untilHealed(a) {
			t.Errorf("%v lasts until the world is healed", a)
		}
	}
}

// unknownAction is an action that no promise speaks of.
type unknownAction struct{ faults.Pause }
