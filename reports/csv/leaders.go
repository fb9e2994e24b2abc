package csv

import (
	"strconv"

	"locksim/scenarios/outcome/tunings"
)

// Leaders has a row for each setting and each trouble. A setting that is refused has one row, with the reason.
func Leaders(l *tunings.Leaders) Table {
	table := Table{Head: []string{"system", "setting", "refused", "trouble", "seconds", "lost_least", "lost_most",
		"two_seconds_least", "two_seconds_most", "none_seconds_least", "none_seconds_most"}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for _, s := range l.Settings {
		if s.Refused != "" {
			table.Rows = append(table.Rows, []string{string(s.System), s.Name, s.Refused, "", "", "", "", "", "", "", ""})
		}
		for _, t := range s.Troubles {
			table.Rows = append(table.Rows, []string{string(s.System), s.Name, "", string(t.Kind), number(t.Seconds),
				number(t.Lost.Least), number(t.Lost.Most), number(t.TwoSeconds.Least), number(t.TwoSeconds.Most),
				number(t.NoneSeconds.Least), number(t.NoneSeconds.Most)})
		}
	}
	return table
}
