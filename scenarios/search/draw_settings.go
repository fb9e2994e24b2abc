package search

import (
	"math"
	"slices"
	"strings"
	"time"

	"locksim/scenarios/file"
)

// settings draws the settings of the lock that the space names, each below what it has to be less than. Where the TTL
// leaves no room for them, the lock has its own.
func (d *drawer) settings() {
	if len(d.space.Settings) == 0 {
		return
	}
	if unit := d.space.TTLUnit; unit > 0 {
		d.sc.Lock.TTL = (d.sc.Lock.TTL + unit - 1) / unit * unit
	}
	drawn := map[string]time.Duration{"ttl": d.sc.Lock.TTL}
	var all []file.Setting
	for _, r := range d.space.Settings {
		unit := max(r.Unit, time.Millisecond)
		if r.Counts {
			unit = max(r.Unit, 1)
		}
		most := r.Most
		for _, b := range r.Below {
			most = min(most, time.Duration(math.Ceil(float64(drawn[b.Of])/b.Times))-1)
		}
		low, high := (r.Least+unit-1)/unit, most/unit
		if high < low {
			low = (r.Floor + unit - 1) / unit
		}
		if high < low {
			return
		}
		steps := int(min(high-low, math.MaxInt32-1))
		value := unit * (low + time.Duration(pick(d, d.from.Below(steps+1), 0, steps)))
		drawn[r.Name], all = value, append(all, file.Setting{Name: r.Name, Value: r.Text(value)})
	}
	slices.SortFunc(all, func(a, b file.Setting) int { return strings.Compare(a.Name, b.Name) })
	d.sc.Lock.Settings = all
}
