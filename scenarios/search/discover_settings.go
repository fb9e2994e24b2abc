package search

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/scenarios/file"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// discoverSettings finds in the lock what can be drawn for the settings that the space names. It adds those that these
// have to be less than, or that have to be less than these: their own values may leave no room.
func (s *discovery) discoverSettings(l subject.Lock) error {
	if s.Settings == nil {
		return nil
	}
	var asked []spaces.SettingRange
	for _, r := range s.Settings {
		if r.Name != spaces.AllSettings {
			asked = append(asked, r)
			continue
		}
		for _, has := range l.Settings {
			asked = append(asked, spaces.SettingRange{Name: has.Name})
		}
		if len(l.Settings) == 0 {
			return fmt.Errorf("lock %s has no settings that could be drawn", l.Name)
		}
	}
	for i := 0; i < len(asked); i++ { // it grows
		has, err := l.Setting(asked[i].Name)
		if err != nil {
			return err
		}
		for _, other := range l.Settings {
			if other.Under(has) || has.Under(other) {
				asked = append(asked, spaces.SettingRange{Name: other.Name})
			}
		}
		asked = firstOfEach(asked)
	}
	s.TTLUnit = l.TTLUnit
	ttl := s.WithDefaults().TTL
	s.Settings = nil
	for _, has := range l.SettingsInOrder() {
		i := slices.IndexFunc(asked, func(r spaces.SettingRange) bool { return r.Name == has.Name })
		if i < 0 {
			continue
		}
		r := asked[i]
		if r.Most > 0 && r.Counts != has.Counts {
			return fmt.Errorf("the setting %s of lock %s: give %s", r.Name, l.Name, formOf(has))
		}
		r.Counts, r.Unit = has.Counts, has.Unit
		highest := cmp.Or(has.Most, file.MaxDuration)
		if r.Floor = r.Least; r.Most == 0 {
			r.Floor = has.Least
			r.Least = max(has.Default(ttl.Min)/4, has.Least)
			r.Most = min(has.Default(ttl.Max)*4, highest)
		}
		if r.Least < has.Least || r.Most > highest {
			return fmt.Errorf("the setting %s of lock %s goes from %s to %s: give a range in that", r.Name, l.Name,
				r.Text(has.Least), r.Text(highest))
		}
		for _, b := range has.Below {
			r.Below = append(r.Below, spaces.Limit{Of: b.Of, Times: max(b.Times, 1)})
		}
		s.Settings = append(s.Settings, r)
	}
	return nil
}

// firstOfEach keeps the first of each name.
func firstOfEach(all []spaces.SettingRange) (out []spaces.SettingRange) {
	for _, r := range all {
		if !slices.ContainsFunc(out, func(other spaces.SettingRange) bool { return other.Name == r.Name }) {
			out = append(out, r)
		}
	}
	return out
}

func formOf(s subject.Setting) string {
	if s.Counts {
		return "whole numbers, such as 1..8"
	}
	return "lengths of time, such as " + time.Second.String() + "..5s"
}
