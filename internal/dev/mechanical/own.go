package mechanical

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// OwnTests asks what the tests of a package make of a sample of its mechanical mutants.
type OwnTests struct {
	Folder string // of the package, relative to the root of the checkout
	Size   int    // of the sample, from 1
	Seed   uint64 // of the sample
}

// unseen has a line "FOLDER/NAME `CODE`: REASON" for each mutant of a package that no run can show, with the code that
// it changes: a mutant of that name after a change of the function may be another. It is relative to the root of the
// module.
const unseen = "internal/dev/mechanical/unseen.txt"

// afterCode separates the name and the code of a mutant from the reason.
const afterCode = "`: "

// Run draws the sample, runs the tests with each of its mutants, and writes those that they do not detect to stdout.
// dir is for temporary files. It is an error if the tests fail without a mutant.
func (o OwnTests) Run(ctx context.Context, root, dir string, stdout, progress io.Writer) error {
	o.Folder = path.Clean(filepath.ToSlash(o.Folder))
	reasons, err := Reasons(root, unseen, afterCode)
	if err != nil {
		return err
	}
	drawn, possible, err := o.draw(ctx, root)
	if err != nil {
		return err
	}
	shop, err := newWorkshop(ctx, root, dir, o.Folder)
	if err != nil {
		return err
	}
	passed := 0
	for i, e := range drawn {
		u, err := testWith(ctx, shop, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		_, _ = fmt.Fprintf(progress, "%d of %d: %s: killed: %v %s\n", i+1, len(drawn), e.Name, u.Killed, u.By)
		if u.Killed {
			continue
		}
		passed++
		name := o.nameOf(e)
		if _, err := fmt.Fprintf(stdout, "%s: %s %s\n", name, e.Breaks(),
			reasons[strings.TrimSuffix(name, "`")]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(stdout, "%s: of %d mutants %d were tried, and the tests pass with %d.\n", o.Folder, possible,
		len(drawn), passed)
	return err
}

// nameOf is the name of a mutant in the file unseen.
func (o OwnTests) nameOf(e Edit) string {
	return o.Folder + "/" + strings.TrimPrefix(e.Name, Group+"/") + " " + code(e.Before)
}

// draw draws mutants of the package that compile, and tells how many there are.
func (o OwnTests) draw(ctx context.Context, root string) (drawn []Edit, possible int, err error) {
	compile, err := NewCompiler(ctx, root, o.Folder)
	if err != nil {
		return nil, 0, err
	}
	var files []string
	for file := range compile.parsed {
		files = append(files, file)
	}
	slices.Sort(files)
	var all []Edit
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, 0, err
		}
		edits, err := (&lister{file: file, text: text, further: true}).list()
		if err != nil {
			return nil, 0, err
		}
		all = append(all, edits...)
	}
	var failure error
	drawn, _ = sample(all, o.Size, o.Seed, func(e Edit) bool {
		text, err := e.Mutated(root)
		failure = errors.Join(failure, err)
		return err == nil && compile.Check(e.File, text) == nil
	})
	return drawn, len(all), failure
}
