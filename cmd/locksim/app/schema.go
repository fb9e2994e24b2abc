package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"locksim/internal/prose"
	"locksim/reports"
)

func (s *shell) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema " + strings.Join(reports.Schemas(), "|"),
		Short: "Print the JSON Schema of a document that locksim writes",
		Long: `Schema prints the JSON Schema (draft 2020-12) of the documents that --json prints
and --out stores: "run" for run.json and the found-1.json of a violation, "matrix"
for matrix.json, "explore" and "sweep" for explore.json and sweep.json, also of one
shard or put together by merge, "review" for review.json, "compare" and "list" for
what these commands print.`,
		Example: `  locksim schema run >run.schema.json
  locksim schema matrix`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return fmt.Errorf("name a document: choose one of %s", strings.Join(reports.Schemas(), ", "))
		},
		ValidArgsFunction: cobra.FixedCompletions(reports.Schemas(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := reports.Schema(args[0])
			if err != nil {
				return fmt.Errorf("there is no schema %q: %s", args[0], prose.Choose(args[0], reports.Schemas()))
			}
			_, err = s.out.Write(b)
			return s.print(err)
		},
	}
}
