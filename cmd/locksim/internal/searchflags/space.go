// Package searchflags has the flags that say what a search draws and what it judges a lock by, and writes them back.
package searchflags

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"locksim/cmd/locksim/internal/console"
	"locksim/scenarios/file"
	"locksim/scenarios/spaces"
)

// Space are the flags that narrow what is drawn. A flag that is not given leaves its
// part open.
type Space struct{ spaces.Space }

// spaceFlag is one of them: a value of a space, as text.
type spaceFlag struct {
	name, kind, usage string
	get               func(s *spaces.Space) string
	set               func(s *spaces.Space, text string) error
}

// errForm is a value of another form than that of its flag, which the message names: see
// flagError.
var errForm = errors.New("another form")

var allSpaceFlags = []spaceFlag{
	spanFlag("clients", "the number of clients", func(s *spaces.Space) *spaces.Span { return &s.Clients }),
	numberFlag("crowd", "the number of clients in some of the runs", func(s *spaces.Space) *int { return &s.Crowd }),
	spanFlag("rounds", "the number of rounds of each client", func(s *spaces.Space) *spaces.Span { return &s.Rounds }),
	spanFlag("nodes", "the number of nodes of a lock over a quorum, where it is drawn,",
		func(s *spaces.Space) *spaces.Span { return &s.Nodes }),
	numberFlag("replicas", "the greatest number of replicas of r0", func(s *spaces.Space) *int { return &s.Replicas }),
	{
		"ttl", "span of time, such as 1s..5s", "the TTL of the lock is in this `RANGE`, such as 1s..5s",
		func(s *spaces.Space) string {
			if s.TTL == (file.Range{}) {
				return ""
			}
			return s.TTL.String()
		},
		func(s *spaces.Space, text string) error {
			low, high, both := strings.Cut(text, "..")
			if !both {
				high = low
			}
			var err error
			if s.TTL.Min, err = time.ParseDuration(low); err == nil {
				s.TTL.Max, err = time.ParseDuration(high)
			}
			if err != nil {
				return errForm
			}
			return nil
		},
	},
	numberFlag("max-faults", "the greatest number of faults of a schedule",
		func(s *spaces.Space) *int { return &s.MaxFaults }),
	numberFlag("nested", "the greatest number of times that a section enters its lock again",
		func(s *spaces.Space) *int { return &s.Nested }),
	wordsFlag("wait", "how the lock waits", []file.WaitMode{file.WaitPoll, file.WaitNotify},
		func(s *spaces.Space) *[]file.WaitMode { return &s.Waits }),
	wordsFlag("client", "the configuration of the lock's clients",
		[]file.ClientProfile{file.ClientQuiet, file.ClientStock},
		func(s *spaces.Space) *[]file.ClientProfile { return &s.Profiles }),
	{
		"strategy", "one of " + strategyNames(), "schedules are chosen in this `WAY`: " + strategyNames(),
		func(s *spaces.Space) string { return string(s.Strategy) },
		func(s *spaces.Space, text string) error {
			s.Strategy = spaces.Strategy(text)
			if !slices.Contains(spaces.Strategies(), s.Strategy) {
				return errForm
			}
			return nil
		},
	},
	wordsFlag("workload", "what sections do", file.WorkloadKinds(),
		func(s *spaces.Space) *[]file.WorkloadKind { return &s.Workloads }),
	{
		"settings", "list of settings, such as retry_period or retry_period=1s..5s",
		"the lock's own `SETTINGS` are drawn, with commas, such as retry_period=1s..5s; all for each of them",
		func(s *spaces.Space) string {
			var all []string
			for _, r := range s.Settings {
				all = append(all, r.String())
			}
			return strings.Join(all, ",")
		},
		func(s *spaces.Space, text string) error {
			s.Settings = nil
			for _, one := range strings.Split(text, ",") {
				r, err := spaces.ParseSetting(one)
				if err != nil {
					return RangeError(err.Error())
				}
				s.Settings = append(s.Settings, r)
			}
			return nil
		},
	},
}

// strategyNames are the names of the strategies, with commas.
func strategyNames() string {
	var names []string
	for _, s := range spaces.Strategies() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func spanFlag(name, usage string, of func(*spaces.Space) *spaces.Span) spaceFlag {
	return spaceFlag{
		name, "span of numbers, such as 2..4", usage + " is in this `SPAN`, such as 2..4",
		func(s *spaces.Space) string {
			if span := *of(s); span != (spaces.Span{}) {
				return span.String()
			}
			return ""
		},
		func(s *spaces.Space, text string) error {
			low, high, both := strings.Cut(text, "..")
			if !both {
				high = low
			}
			var err error
			span := of(s)
			if span.Min, err = strconv.Atoi(low); err == nil {
				span.Max, err = strconv.Atoi(high)
			}
			if err != nil || span.Min < 1 {
				return errForm
			}
			return nil
		},
	}
}

func numberFlag(name, usage string, of func(*spaces.Space) *int) spaceFlag {
	return spaceFlag{
		name, "whole number from 1 on", "`N` is " + usage,
		func(s *spaces.Space) string {
			if *of(s) == 0 {
				return ""
			}
			return strconv.Itoa(*of(s))
		},
		func(s *spaces.Space, text string) (err error) {
			if *of(s), err = strconv.Atoi(text); err != nil || *of(s) < 1 {
				return errForm
			}
			return nil
		},
	}
}

func wordsFlag[W ~string](name, usage string, known []W, of func(*spaces.Space) *[]W) spaceFlag {
	names := make([]string, len(known))
	for i, w := range known {
		names[i] = string(w)
	}
	return spaceFlag{
		name, "one of " + strings.Join(names, ", "), usage + " is one of these `WORDS`, with commas: " +
			strings.Join(names, ", "),
		func(s *spaces.Space) string {
			var words []string
			for _, w := range *of(s) {
				words = append(words, string(w))
			}
			return strings.Join(words, ",")
		},
		func(s *spaces.Space, text string) error {
			*of(s) = nil
			for _, word := range strings.Split(text, ",") {
				word = strings.TrimSpace(word)
				if !slices.Contains(names, word) {
					return errForm
				}
				*of(s) = append(*of(s), W(word))
			}
			return nil
		},
	}
}

// Add adds the flags to a command.
func (f *Space) Add(flags *pflag.FlagSet) {
	for _, one := range allSpaceFlags {
		flags.Var(&spaceValue{one, &f.Space}, one.name, one.usage)
	}
}

// spaceValue is a [pflag.Value].
type spaceValue struct {
	spaceFlag
	space *spaces.Space
}

// Set implements [pflag.Value]. It tries the value alone, so that the error is about the flag.
func (v *spaceValue) Set(text string) error {
	var alone spaces.Space
	if err := v.set(&alone, text); err != nil {
		return err
	}
	if err := alone.Validate(); err != nil {
		_, hint, _ := strings.Cut(err.Error(), ": ")
		return RangeError(hint)
	}
	return v.set(v.space, text)
}

// RangeError says which values a flag takes, of the form that this one has.
type RangeError string

func (e RangeError) Error() string { return string(e) }

func (v *spaceValue) String() string {
	if v.space == nil {
		return ""
	}
	return v.get(v.space)
}
func (v *spaceValue) Type() string { return v.kind }

// SpaceWords are the flags of a space, each after a blank.
func SpaceWords(s *spaces.Space) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, one := range allSpaceFlags {
		if text := one.get(s); text != "" {
			fmt.Fprintf(&b, " --%s %s", one.name, console.Quote(text))
		}
	}
	return b.String()
}
