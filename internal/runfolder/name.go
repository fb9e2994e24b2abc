package runfolder

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Default is the parent of the folders of commands, below the current one.
const Default = "reports/out"

// maxPart bounds a part of a name, in bytes.
const maxPart = 64

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

// Name is the name of a folder made of its parts, such as
// run-gc-pause-fenced-s1. It is the same for the same parts, valid on every
// system for any text of a part, and never hidden. A part with characters that
// are replaced gets a hash of it, so that two such parts have different names.
func Name(parts ...string) string {
	safe := make([]string, len(parts))
	for i, part := range parts {
		safe[i] = safePart(part)
	}
	return strings.Join(safe, "-")
}

// safePart returns a plain part as it is, a specimen such as
// broken/get-then-del with a point for its slash, and any other part with a
// hash.
func safePart(part string) string {
	if before, after, ok := strings.Cut(part, "/"); ok && plainName.MatchString(before) && plainName.MatchString(after) && len(part) <= maxPart {
		return before + "." + after
	}
	if plainName.MatchString(part) && len(part) <= maxPart {
		return part
	}
	sum := sha256.Sum256([]byte(part))
	return strings.Trim(sanitize(part), "-") + "_" + hex.EncodeToString(sum[:4])
}

// sanitize replaces the characters that a name may not have, and shortens the
// text.
func sanitize(part string) string {
	kept := strings.Map(func(r rune) rune {
		if r < 128 && plainName.MatchString(string(r)) {
			return r
		}
		return '-'
	}, part)
	return kept[:min(len(kept), 40)]
}

// Latest is the name of the link to the newest folder.
const Latest = "latest"

// PointLatest makes "latest" in a folder a link to another folder in it. It
// replaces the link atomically. It fails on a system without links, and if
// there is something else than a link under that name, which it does not
// change.
func PointLatest(dir, name string) (err error) {
	link := filepath.Join(dir, Latest)
	info, err := os.Lstat(link)
	if err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is no link, and stays as it is", link)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tmp, err := os.MkdirTemp(dir, ".latest-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	newLink := filepath.Join(tmp, Latest)
	if err := os.Symlink(filepath.FromSlash(name), newLink); err != nil {
		return err
	}
	return os.Rename(newLink, link)
}
