package spaces

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// AllSettings is the name of a [SettingRange] that stands for all settings that the lock has.
const AllSettings = "all"

// SettingRange is a setting of the lock that is drawn, such as the renew deadline of an election.
type SettingRange struct {
	// Name is that of the setting in a scenario, or [AllSettings].
	Name string `json:"name"`
	// Least is the least value: a length of time or, with Counts, a number. Least and Most of 0 stand for a quarter of
	// what the lock has by itself and four times that, as far as the setting goes.
	Least time.Duration `json:"least,omitempty"`
	// Most is the greatest value.
	Most time.Duration `json:"most,omitempty"`
	// Counts says that it is a number of things.
	Counts bool `json:"counts,omitempty"`

	// Floor is the least value where Below leaves no room above Least. It is the lock's, or Least if that was asked for.
	Floor time.Duration `json:"floor,omitempty"`
	// Unit is what a value is a whole number of. 0 stands for a millisecond, or one thing. It is the lock's.
	Unit time.Duration `json:"unit,omitempty"`
	// Below are what a value has to be less than. They are the lock's.
	Below []Limit `json:"below,omitempty"`
}

// Limit is what a setting has to be less than.
type Limit struct {
	// Of is another setting, which is drawn before, or "ttl".
	Of string `json:"of"`
	// Times is by how much the setting is multiplied before, 1 or more.
	Times float64 `json:"times"`
}

// String is the setting as a flag takes it: "retry_period" or "retry_period=1s..5s".
func (r SettingRange) String() string {
	if r.Least == 0 && r.Most == 0 {
		return r.Name
	}
	return fmt.Sprintf("%s=%s..%s", r.Name, r.Text(r.Least), r.Text(r.Most))
}

// Text is a value of the setting as a scenario has it.
func (r SettingRange) Text(d time.Duration) string {
	if r.Counts {
		return strconv.Itoa(int(d))
	}
	return d.String()
}

// errSetting is a range of a setting that cannot be read.
var errSetting = errors.New("give a name, or a name and its range, such as retry_period=1s..5s or retries=1..32")

// ParseSetting reads a setting as [SettingRange.String] writes it. A range of one value may have that alone.
func ParseSetting(text string) (r SettingRange, err error) {
	name, of, ranged := strings.Cut(text, "=")
	if r.Name = strings.TrimSpace(name); r.Name == "" {
		return r, errSetting
	}
	if !ranged {
		return r, nil
	}
	low, high, both := strings.Cut(of, "..")
	if !both {
		high = low
	}
	if n, err := strconv.ParseUint(low, 10, 31); err == nil {
		r.Counts, r.Least = true, time.Duration(n)
		most, err := strconv.ParseUint(high, 10, 31)
		if r.Most = time.Duration(most); err != nil {
			return r, errSetting
		}
	} else {
		var of [2]error
		r.Least, of[0] = time.ParseDuration(low)
		r.Most, of[1] = time.ParseDuration(high)
		if errors.Join(of[:]...) != nil {
			return r, errSetting
		}
	}
	return r, r.check()
}

// check returns an error for a range that has nothing in it.
func (r SettingRange) check() error {
	switch {
	case r.Least < 0 || r.Most < r.Least:
		return fmt.Errorf("the setting %s: give the smaller end of its range first", r)
	case r.Name == AllSettings && r.Most > 0:
		return fmt.Errorf("%s are all settings of the lock, which have no range in common: name one", AllSettings)
	}
	return nil
}
