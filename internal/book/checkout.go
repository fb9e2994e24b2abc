package book

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// dirty is the mark of a commit from which files differ.
const dirty = "-dirty"

// Dirty reports whether a state of a checkout is that of no commit.
func Dirty(state string) bool { return strings.HasSuffix(state, dirty) }

// played are the files of the checkout without those that programs with a book write, which are no change of what they
// play: one may write while another one plays.
var played = []string{":(top)", ":(top,glob,exclude)reports/*.md", ":(top,exclude)reports/libraries",
	":(top,exclude)reports/groundtruth", ":(top,glob,exclude)examples/*/*.jsonl",
	":(top,glob,exclude)internal/dev/*/*.jsonl",
	":(top,exclude)examples/groundtruth/versions.sum"}

// Checkout is the checkout of git around the working folder, as it was when it was looked at. Its methods are safe for
// concurrent use.
type Checkout struct {
	// Head is the short name of the commit, State the same with a mark if files differ from it.
	Head, State string

	mu      sync.Mutex
	differs map[string]bool // by commit
}

// ThisCheckout looks at the checkout.
func ThisCheckout() (*Checkout, error) {
	id, _, err := Output(exec.Command("git", "rev-parse", "--short", "HEAD"))
	if err != nil {
		return nil, fmt.Errorf("name the commit: %w", err)
	}
	changed, _, err := Output(exec.Command("git", append([]string{"status", "--porcelain", "--untracked-files=no", "--"},
		played...)...))
	if err != nil {
		return nil, fmt.Errorf("look for files that differ from the commit: %w", err)
	}
	c := &Checkout{Head: strings.TrimSpace(string(id)), differs: map[string]bool{}}
	if c.State = c.Head; len(changed) > 0 {
		c.State += dirty
	}
	return c, nil
}

// Older reports whether a result of a commit is of another one than Head, between which something changed that is
// played. A commit that git does not have is.
func (c *Checkout) Older(commit string) (bool, error) {
	commit = strings.TrimSuffix(commit, dirty)
	if commit == c.Head {
		return false, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if differs, ok := c.differs[commit]; ok {
		return differs, nil
	}
	_, _, err := Output(exec.Command("git", append([]string{"diff", "--quiet", "--no-ext-diff", commit, c.Head, "--"},
		played...)...))
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return false, fmt.Errorf("compare the commits %s and %s: %w", commit, c.Head, err)
	}
	c.differs[commit] = err != nil
	return err != nil, nil
}

// Same reports whether a result of a state is one that this checkout would make: neither has changes that no commit
// has, and nothing has changed that is played.
func (c *Checkout) Same(state string) (bool, error) {
	if Dirty(state) || Dirty(c.State) || state == "" {
		return false, nil
	}
	older, err := c.Older(state)
	return !older, err
}

// Age says how many of some results are older than the checkout.
type Age struct {
	// Head is the commit of the checkout.
	Head string
	// All counts the results, Older those of an older commit, Dirty those of changes that no commit has.
	All, Older, Dirty int
}

// Age counts results by the states at which they were made.
func (c *Checkout) Age(states []string) (Age, error) {
	a := Age{Head: c.Head, All: len(states)}
	for _, state := range states {
		if state == "" || Dirty(state) {
			a.Dirty++
			continue
		}
		older, err := c.Older(state)
		if err != nil {
			return a, err
		}
		if older {
			a.Older++
		}
	}
	return a, nil
}

func (a Age) String() string {
	if a.Older+a.Dirty == 0 {
		return fmt.Sprintf("%d results, none of which is older than the commit %s", a.All, a.Head)
	}
	return fmt.Sprintf("%d results: %d are of an older commit than %s, and %d of changes that no commit has; -anew plays "+
		"these again", a.All, a.Older, a.Head, a.Dirty)
}

// TellAge writes how old results are, by the states at which they were made. Without git it writes why that is not
// known.
func TellAge(w io.Writer, states []string) {
	c, err := ThisCheckout()
	if err == nil {
		var a Age
		if a, err = c.Age(states); err == nil {
			_, _ = fmt.Fprintln(w, a)
			return
		}
	}
	_, _ = fmt.Fprintf(w, "How old the %d results are is not known: %v\n", len(states), err)
}
