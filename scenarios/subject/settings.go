package subject

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/internal/prose"
	"locksim/scenarios/file"
)

// Setting is a number that users of a lock choose and publish, such as the renew deadline of an election. A scenario
// has it under lock.settings, by its name. It is a length of time or, with Counts, a number of things, which a Duration
// stands for then.
type Setting struct {
	// Name is that in a scenario, Elsewhere what the library of the lock calls it: "renew_deadline", "RenewDeadline".
	Name, Elsewhere string
	// Doc is a phrase that says what it is: "how long a leader tries to renew before it gives up".
	Doc string
	// Default is what it is where a scenario leaves it out, by the TTL of the scenario.
	Default func(ttl time.Duration) time.Duration
	// Least and Most bound it. A Most of 0 stands for the longest time that a scenario may have.
	Least, Most time.Duration
	// Unit is what it must be a whole number of. 0 is for any.
	Unit time.Duration
	// Below are what it has to be less than.
	Below []Bound
	// Counts says that it is a number of things.
	Counts bool
}

// Bound is what a setting has to be less than: another one, by its name, or the "ttl" of the scenario.
type Bound struct {
	Of string
	// Times is by how much the setting is multiplied before. 0 is 1.
	Times float64
	// Because says who has it so: "client-go refuses it".
	Because string
}

// Always is a default that does not depend on the TTL.
func Always(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// In is the setting in a scenario. The run has checked it.
func (s Setting) In(spec file.LockSpec) time.Duration {
	text, ok := spec.Setting(s.Name)
	if !ok {
		return s.Default(spec.TTL)
	}
	d, _ := s.parse(text)
	return d
}

func (s Setting) parse(text string) (time.Duration, error) {
	if s.Counts {
		n, err := strconv.Atoi(text)
		return time.Duration(n), err
	}
	return time.ParseDuration(text)
}

// Text is a value of the setting as a scenario has it.
func (s Setting) Text(d time.Duration) string {
	if s.Counts {
		return strconv.Itoa(int(d))
	}
	return d.String()
}

// checkSettings returns an *InputError for the first setting of a scenario that the lock does not have, or that it
// cannot have so. Settings that a scenario leaves out count too, as soon as it has one: its TTL may not fit them.
func (l Lock) checkSettings(sc *file.Scenario) error {
	for _, chosen := range sc.Lock.Settings {
		path := "lock.settings." + chosen.Name
		i := slices.IndexFunc(l.Settings, func(s Setting) bool { return s.Name == chosen.Name })
		if i < 0 {
			return sc.ErrorAt(sc.Pos(path), "%s: lock %s has no such setting: %s", path, l.Name, l.nearest(chosen.Name))
		}
		if problem := l.Settings[i].problem(chosen.Value); problem != "" {
			return sc.ErrorAt(sc.Pos(path), "%s: %s", path, problem)
		}
	}
	if len(sc.Lock.Settings) == 0 {
		return nil
	}
	if l.TTLUnit > 0 && sc.Lock.TTL%l.TTLUnit != 0 {
		return sc.ErrorAt(sc.Pos("lock.ttl"), "lock.ttl: %v is not a whole number of %v, as lock %s with settings takes it",
			sc.Lock.TTL, l.TTLUnit, l.Name)
	}
	for _, s := range l.Settings {
		if problem := l.above(s, sc.Lock); problem != "" {
			path := "lock.settings." + s.Name
			return sc.ErrorAt(sc.Pos(path), "%s: %s", path, problem)
		}
	}
	return nil
}

// Setting is a setting of the lock by its name. The error names the nearest one.
func (l Lock) Setting(name string) (Setting, error) {
	for _, s := range l.Settings {
		if s.Name == name {
			return s, nil
		}
	}
	return Setting{}, fmt.Errorf("lock %s has no setting %s: %s", l.Name, name, l.nearest(name))
}

// Under reports whether a setting has to be less than another one.
func (s Setting) Under(other Setting) bool {
	return slices.ContainsFunc(s.Below, func(b Bound) bool { return b.Of == other.Name })
}

// SettingsInOrder are the settings of the lock, each after those that it has to be less than. The caller owns the
// slice.
func (l Lock) SettingsInOrder() []Setting {
	var out []Setting
	for left := slices.Clone(l.Settings); len(left) > 0; {
		i := slices.IndexFunc(left, func(s Setting) bool { return !slices.ContainsFunc(left, s.Under) })
		if i < 0 { // each waits for another
			return append(out, left...)
		}
		out, left = append(out, left[i]), slices.Delete(left, i, i+1)
	}
	return out
}

// nearest says what to write in place of a setting that the lock does not have.
func (l Lock) nearest(name string) string {
	plain := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, "_", "")) }
	if l.TTLIs != "" && plain(l.TTLIs) == plain(name) {
		return fmt.Sprintf("%s is the time after which it ends without a renewal: write lock.ttl", l.TTLIs)
	}
	var names []string
	for _, s := range l.Settings {
		if plain(s.Elsewhere) == plain(name) {
			return "write " + s.Name
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return "it has none, so leave settings out"
	}
	return prose.Choose(name, names)
}

// problem says why a setting cannot have a value; "" if it can.
func (s Setting) problem(text string) string {
	d, err := s.parse(text)
	most := s.Most
	if most == 0 {
		most = file.MaxDuration
	}
	switch {
	case err != nil && s.Counts:
		return fmt.Sprintf("%s is no whole number: give one, such as %s", text, s.Text(s.Default(0)))
	case err != nil:
		return fmt.Sprintf("%s is no length of time: give one with its unit, such as 10s", text)
	case d < s.Least || d > most:
		return fmt.Sprintf("%s is out of range: give %s to %s", s.Text(d), s.Text(s.Least), s.Text(most))
	case s.Unit > 0 && d%s.Unit != 0:
		return fmt.Sprintf("%v is not a whole number of %v", d, s.Unit)
	}
	return ""
}

// above says what a setting is not less than, although it has to be; "" if there is nothing.
func (l Lock) above(s Setting, spec file.LockSpec) string {
	d := s.In(spec)
	for _, b := range s.Below {
		limit, what, times := spec.TTL, "lock.ttl", max(b.Times, 1)
		for _, other := range l.Settings {
			if other.Name == b.Of {
				limit, what = other.In(spec), other.Name
			}
		}
		if float64(d)*times < float64(limit) {
			continue
		}
		multiple := ""
		if times > 1 {
			multiple = fmt.Sprintf(", times %v,", times)
		}
		return fmt.Sprintf("%s%s is not less than %s of %s (%s): make it shorter, or the other one longer", s.Text(d),
			multiple,
			what, s.Text(limit), b.Because)
	}
	return ""
}
