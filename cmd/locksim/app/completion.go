package app

import (
	"strings"

	"github.com/spf13/cobra"

	"locksim/scenarios"
)

// completeScenarios offers the library's scenarios, and files besides.
func completeScenarios(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := scenarios.Library()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, sc := range all {
		names = append(names, cobra.CompletionWithDesc(sc.Name, sc.Title))
	}
	return names, cobra.ShellCompDirectiveDefault
}

// completeFlags offers values for those of our flags that a command has.
func (s *shell) completeFlags(cmd *cobra.Command) {
	values := map[string]cobra.CompletionFunc{
		"lock":    cobra.FixedCompletions(append(s.lockNames(), scenarios.Specimens()...), cobra.ShellCompDirectiveNoFileComp),
		"mode":    cobra.FixedCompletions(modeNames(), cobra.ShellCompDirectiveNoFileComp),
		"fencing": completeModes,
		"seed":    cobra.NoFileCompletions,
		"out":     completeFolders,
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
	begun := typed[:strings.LastIndex(typed, ",")+1]
	var lists []string
	for _, name := range modeNames() {
		if !strings.Contains(","+begun, ","+name+",") {
			lists = append(lists, begun+name)
		}
	}
	return lists, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
