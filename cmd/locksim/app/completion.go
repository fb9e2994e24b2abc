package app

import (
	"strings"

	"github.com/spf13/cobra"

	"locksim/scenarios/play"
	"locksim/scenarios/spaces"
)

// completeScenarios offers the scenarios of the library, and files.
func (s *shell) completeScenarios(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := play.Library(s.Extra)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, sc := range all {
		names = append(names, cobra.CompletionWithDesc(sc.Name, sc.Title))
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeFlags registers completions for the flags of a command.
func (s *shell) completeFlags(cmd *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"lock":      s.completeLocks,
		"scenario":  s.completeScenarioList,
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

// completeLocks offers all locks; for matrix and explore, those that the list so far
// does not have.
func (s *shell) completeLocks(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	names := append(s.LockNames(), s.Specimens()...)
	switch cmd.Name() {
	case "matrix":
	case "explore":
		names = append(names, "all")
	default:
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return continued(typed, names), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeScenarioList offers the scenarios of the library that the list so far does
// not have, and files.
func (s *shell) completeScenarioList(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	all, err := play.Library(s.Extra)
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
