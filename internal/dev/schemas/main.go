// Schemas writes the JSON Schemas of what locksim prints as JSON, from the Go
// types that are marshalled, and that of scenario files:
//
//	go -C internal/dev run ./schemas
//
// It writes reports/schema.
//
// A field is described by its doc comment, without the name of the field: "Seed
// is the seed of the run" becomes "The seed of the run". A field without omitempty
// is required, and other properties are not allowed. The constants of a string type are
// its only values. Numbers are not negative, texts and lists that may be absent are not
// empty, and nothing is null, unless a jsonschema tag changes that; the tags are those of
// github.com/invopop/jsonschema, and minProperties. documents.go has the rules that
// neither a type nor a tag can express.
//
// The name of a type in $defs is its Go name in snake case, for types of the packages
// of campaigns with the package before it. Two types of one name in one document are an
// error, unless the table names in documents.go gives one of them another name.
//
// The schema of scenario files is made of the types that the parser fills, and of the forms of
// the faults: see scenario.go.
//
// The published command embeds the files and does not depend on the library.
package main

import (
	"fmt"
	"os"

	"locksim/internal/dev/checkout"
)

func main() {
	root, err := checkout.Root()
	if err == nil {
		err = write(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// write writes the schemas into the checkout in the folder root, from which it
// reads the comments.
func write(root string) error {
	names, schemaOf := all()
	for _, name := range names {
		text, err := schemaOf[name](root)
		if err != nil {
			return fmt.Errorf("schema of %s: %w", name, err)
		}
		if err := os.WriteFile(schemaFile(root, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
