package searchflags

import (
	"errors"

	"github.com/spf13/pflag"

	"locksim/scenarios/outcome/explorations"
)

// Judged say what a lock is judged by.
type Judged struct {
	Promise, claims bool
}

// Add adds the flags to a command.
func (f *Judged) Add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.Promise, "promise", false, "judge the lock by its own promise")
	flags.BoolVar(&f.claims, "claims", false, "judge only whether two clients ever claim the lock at once, under "+
		"every fault")
}

// Problem refuses both flags at once.
func (f Judged) Problem() error {
	if f.Promise && f.claims {
		return errors.New("--promise and --claims: choose one")
	}
	return nil
}

// Judge is what the flags ask for.
func (f Judged) Judge() explorations.Judge {
	switch {
	case f.Promise:
		return explorations.JudgePromise
	case f.claims:
		return explorations.JudgeClaims
	}
	return explorations.JudgeEverything
}

// Folder is the part of the name of a folder that the flags add.
func (f Judged) Folder() []string {
	if j := f.Judge(); j != explorations.JudgeEverything {
		return []string{string(j)}
	}
	return nil
}
