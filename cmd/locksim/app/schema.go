package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/subject"
)

func schemaCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema " + strings.Join(reports.Schemas(), "|"),
		Short: "Print the JSON Schema of a document that locksim writes or reads",
		Long: `Schema prints the JSON Schema (draft 2020-12) of the documents that --json prints
and --out stores: "run" for run.json and the found-1.json of a violation, "matrix"
for matrix.json, "explore" and "sweep" for explore.json and sweep.json, also of one
shard or put together by merge, "review" for review.json, "compare", "tune" and
"list" for what these commands print, "leaders" for what tune leaders prints,
"worlds" for the live.json of a matrix in both worlds,
"triage" for the triage.json of explore --against, "state" for the world at a step,
as replay --until-step prints it, and "init", "judge", "overlay", "serve", "show" and
"version" for these commands; "init" is also for report DIR and pin.

"scenario" is for scenario files: an editor with a YAML language server completes and
checks keys and values with it, in a file that begins with the line
# yaml-language-server: $schema=./scenario.schema.json`,
		Example: `  locksim schema run >run.schema.json
  locksim schema scenario >scenario.schema.json
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
			if args[0] == "scenario" {
				if b, err = withOwnServers(b, s.Extra); err != nil {
					return &console.BrokenError{Cause: err}
				}
			}
			_, err = s.Out.Write(b)
			return s.Print(err)
		},
	}
	cmd.Flags().Bool("json", false, "print the schema, which is JSON in any case")
	return cmd
}

// withOwnServers adds the kinds of servers of the program's own locks to the schema of
// scenarios: keys of the world.
func withOwnServers(schema []byte, extra []subject.Lock) ([]byte, error) {
	var own []server.Facts
	for _, name := range subject.ServerNames(extra...) {
		if !slices.ContainsFunc(kinds.Servers(), func(k server.Kind) bool { return k.Name == name.Name }) {
			own = append(own, name)
		}
	}
	if len(own) == 0 {
		return schema, nil
	}
	var top map[string]any
	if err := json.Unmarshal(schema, &top); err != nil {
		return nil, err
	}
	world := top["properties"].(map[string]any)["world"].(map[string]any)["properties"].(map[string]any)
	for _, name := range own {
		world[name.Name] = map[string]any{
			"description": fmt.Sprintf("The number of servers %s0, %[1]s1, … of the kind %s.", name.Prefix, name.Name),
			"type":        "integer", "minimum": 0, "maximum": file.MaxServers,
		}
	}
	b, err := json.MarshalIndent(top, "", "  ")
	return append(b, '\n'), err
}
