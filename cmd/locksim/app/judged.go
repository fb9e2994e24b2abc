package app

import (
	"errors"

	"github.com/spf13/pflag"

	"locksim/scenarios/explore"
)

// judgedFlags say what a lock is judged by.
type judgedFlags struct {
	promise, claims bool
}

// add adds the flags to a command.
func (f *judgedFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.promise, "promise", false, "judge the lock by its own promise")
	flags.BoolVar(&f.claims, "claims", false, "judge only whether two claims ever overlap, under every fault")
}

// problem refuses both flags at once.
func (f judgedFlags) problem() error {
	if f.promise && f.claims {
		return errors.New("--promise and --claims: choose one")
	}
	return nil
}

// judge is what the flags ask for.
func (f judgedFlags) judge() explore.Judge {
	switch {
	case f.promise:
		return explore.JudgePromise
	case f.claims:
		return explore.JudgeClaims
	}
	return explore.JudgeEverything
}

// folder is the part of the name of a folder that the flags add.
func (f judgedFlags) folder() []string {
	if j := f.judge(); j != explore.JudgeEverything {
		return []string{string(j)}
	}
	return nil
}
