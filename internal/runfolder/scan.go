package runfolder

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"locksim/reports/index"
	"locksim/scenarios/outcome/triage"
)

// Limits of a scan: how deep it looks for folders, and how many it reads.
const (
	maxDepth   = 4
	maxFolders = 5000
)

// Scanner makes indexes of a folder. It reads a file again only after the file has
// changed, so that a server can ask it every few seconds. It is safe for concurrent
// use.
type Scanner struct {
	// FS is the folder, preferably that of an os.Root. No link in it is followed
	// except "latest".
	FS fs.FS
	// Now is the current time: the index then shows when files changed last, and
	// which campaigns are running. Nil makes an index that does not depend on the
	// time.
	Now func() time.Time

	mu    sync.Mutex
	cache map[string]cachedFile
}

// Index is the index of the folder as it is now, sorted by folder. A folder or a
// file in it that cannot be read is an entry with the problem. Index returns an error
// only where the folder itself cannot be read.
func (s *Scanner) Index() (index.Index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &scan{Scanner: s, seen: map[string]cachedFile{}, latest: latestOf(s.FS)}
	top, err := fs.ReadDir(s.FS, ".")
	if err != nil {
		return index.Index{}, err
	}
	c.scanContents(".", top, 0)
	s.cache = c.seen
	x := index.Index{Entries: c.entries}
	if c.cut {
		x.Note = fmt.Sprintf("More than %d folders: the others are not listed.", maxFolders)
	}
	return x, nil
}

// latestOf is the folder that the link "latest" points to, or "".
func latestOf(fsys fs.FS) string {
	target, err := fs.ReadLink(fsys, Latest)
	if err != nil {
		return ""
	}
	return path.Clean(strings.ReplaceAll(target, `\`, "/"))
}

// indexFile is the file of the index itself.
const indexFile = "index.html"

// scan is one pass over the folder.
type scan struct {
	*Scanner
	latest  string
	seen    map[string]cachedFile // what this pass has read
	visited int
	cut     bool
	entries []index.Entry
}

func (c *scan) folder(dir string, depth int) {
	if c.visited++; c.visited > maxFolders {
		c.cut = true
		return
	}
	contents, err := fs.ReadDir(c.FS, dir)
	if err != nil {
		c.entries = append(c.entries, index.Entry{Folder: dir, Kind: index.Unread, Problem: reason(err)})
		return
	}
	c.scanContents(dir, contents, depth)
}

// scanContents adds the entries of a folder, and scans the folders in it. In a folder
// that has an entry, only the folders of shards are scanned: the others have its
// pages.
func (c *scan) scanContents(dir string, contents []fs.DirEntry, depth int) {
	f := folder{dir: dir, files: map[string]fs.DirEntry{}}
	for _, d := range contents {
		f.files[d.Name()] = d
	}
	found := c.entriesOf(f)
	c.entries = append(c.entries, found...)
	if len(found) > 0 && depth > 0 {
		contents = shards(contents)
	}
	for _, d := range contents {
		if depth < maxDepth && d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			c.folder(path.Join(dir, d.Name()), depth+1)
		}
	}
}

func shards(contents []fs.DirEntry) []fs.DirEntry {
	var out []fs.DirEntry
	for _, d := range contents {
		if strings.HasPrefix(d.Name(), "shard-") {
			out = append(out, d)
		}
	}
	return out
}

// folder is one folder with its contents.
type folder struct {
	dir   string
	files map[string]fs.DirEntry
}

func (f folder) has(name string) bool { return f.files[name] != nil }

// entriesOf are the entries of a folder: one for each kind of document in it.
func (c *scan) entriesOf(f folder) []index.Entry {
	var out []index.Entry
	for _, r := range readers {
		if !r.in(f) {
			continue
		}
		e := index.Entry{Kind: r.kind}
		var err error
		if f.has(r.document) {
			err = r.read(c, f, &e)
		}
		if err == nil && f.has(r.journal) {
			err = readUnfinished(c, f, &e, r)
		}
		if err != nil {
			e = index.Entry{Kind: index.Unread, Problem: r.problem(f, reason(err))}
		}
		e.Folder, e.Latest = f.dir, f.dir == c.latest
		for _, p := range r.pages {
			if f.has(p.File) && path.Join(f.dir, p.File) != indexFile {
				e.Pages = append(e.Pages, p)
			}
		}
		out = append(out, e)
	}
	return out
}

// reader reads one kind of document.
type reader struct {
	kind     index.Kind
	document string
	journal  string // "" where there is none
	pages    []index.Page
	read     func(c *scan, f folder, e *index.Entry) error
}

func (r reader) in(f folder) bool {
	return f.has(r.document) || f.has(r.journal)
}

// problem is why a file of this kind cannot be read, beginning with its name.
func (r reader) problem(f folder, why string) string {
	name := r.document
	if !f.has(name) {
		name = r.journal
	}
	for _, known := range []string{r.document, r.journal} {
		if known != "" && strings.HasPrefix(why, known) {
			return why
		}
	}
	return name + ": " + why
}

// readers are the readers of all kinds, in the order in which an index shows them.
var readers = []reader{
	{index.Run, "run.json", "", []index.Page{{Name: "Report", File: "report.html"}, {Name: "Markdown", File: "report.md"},
		{Name: "text", File: "report.txt"}, {Name: "JSON", File: "run.json"},
		{Name: "trace for a viewer", File: "trace.chrome.json"}}, readRun},
	{index.Exploration, "explore.json", "explore.jsonl", campaignPages("explore"), readExploration},
	{index.Sweep, "sweep.json", "sweep.jsonl", campaignPages("sweep"), readSweep},
	{index.Matrix, "matrix.json", "matrix.jsonl", []index.Page{{Name: "Pages", File: "index.html"},
		{Name: "Markdown", File: "MATRIX.md"},
		{Name: "text", File: "matrix.txt"}, {Name: "JSON", File: "matrix.json"}}, readMatrix},
	{index.Review, "review.html", "review.jsonl", []index.Page{{Name: "Review", File: "review.html"},
		{Name: "Markdown", File: "review.md"},
		{Name: "JSON", File: "review.json"}}, readReview},
	{index.Triage, triage.FileName, "", []index.Page{{Name: "JSON", File: triage.FileName}}, readTriage},
}

func campaignPages(kind string) []index.Page {
	return []index.Page{{Name: "Report", File: kind + ".html"}, {Name: "text", File: kind + ".txt"},
		{Name: "JSON", File: kind + ".json"}}
}
