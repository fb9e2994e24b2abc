package app

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/roster"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/spaces"
)

// completion completes the arguments of commands.
type completion struct{ roster.Roster }

func (c completion) scenarios(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := redislocks.Library(c.Extra)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, sc := range all {
		names = append(names, cobra.CompletionWithDesc(sc.Name, sc.Title))
	}
	return names, cobra.ShellCompDirectiveDefault
}

func (c completion) flags(cmd *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"lock":      c.locks,
		"fence":     cobra.FixedCompletions(c.Fences(), cobra.ShellCompDirectiveNoFileComp),
		"scenario":  c.scenarioList,
		"mode":      cobra.FixedCompletions(modeNames(), cobra.ShellCompDirectiveNoFileComp),
		"fencing":   completeModes,
		"seed":      cobra.NoFileCompletions,
		"seeds":     cobra.NoFileCompletions,
		"from-seed": cobra.NoFileCompletions,
		"workers":   cobra.NoFileCompletions,
		"runs":      cobra.NoFileCompletions,
		"shard":     cobra.NoFileCompletions,
		"shards":    cobra.NoFileCompletions,
		"faults":    completeFaults,
		"pairs":     cobra.NoFileCompletions,
		"out":       completeFolders,
		"addr":      cobra.NoFileCompletions,
		"junit":     completeXML,
	}
	for flag, complete := range values {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic("app: completion of --" + flag + ": " + err.Error()) // each flag is registered once
		}
	}
}

// completeModes offers the modes that the list so far does not have.
func completeModes(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return continued(typed, modeNames()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeFaults offers the classes and kinds of fault that the list so far does not
// have. A sweep without faults would place nothing.
func completeFaults(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	names := spaces.FaultNames()
	if cmd.Name() != "sweep" {
		names = append(names, spaces.NoFaults)
	}
	return continued(typed, names), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// locks offers all locks; for matrix and explore, those that the list so far
// does not have.
func (c completion) locks(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	names := append(c.LockNames(), c.Specimens()...)
	switch cmd.Name() {
	case "matrix":
	case "explore":
		names = append(names, "all")
	default:
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return continued(typed, names), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// compared offers the locks that are not named yet.
func (c completion) compared(_ *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(c.EveryLock(), func(name string) bool { return slices.Contains(named, name) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// scenarioList offers the scenarios of the library that the list so far does
// not have, and files.
func (c completion) scenarioList(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	all, err := redislocks.Library(c.Extra)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, sc := range all {
		names = append(names, sc.Name)
	}
	return continued(typed, names), cobra.ShellCompDirectiveNoSpace
}

// continued are completions of a comma-separated list: the finished part of the typed
// text, and one of the names that it does not have.
func continued(typed string, names []string) []string {
	begun := typed[:strings.LastIndex(typed, ",")+1]
	var lists []string
	for _, name := range names {
		if !strings.Contains(","+begun, ","+name+",") {
			lists = append(lists, begun+name)
		}
	}
	return lists
}

func completeXML(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"xml"}, cobra.ShellCompDirectiveFilterFileExt
}

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
