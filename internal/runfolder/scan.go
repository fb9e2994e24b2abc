package runfolder

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"locksim/reports"
)

// The limits of a scan.
const (
	maxDepth   = 4
	maxFolders = 5000
)

// Scanner makes indexes of a folder. It reads a file again only after a change,
// so that an index is cheap. It is safe for concurrent use.
type Scanner struct {
	// FS is the folder, best that of an os.Root. Links in it are not followed,
	// except "latest".
	FS fs.FS
	// Now returns the time, for an index with the times of changes and with
	// running campaigns. Nil means an index that does not depend on the time.
	Now func() time.Time

	mu    sync.Mutex
	cache map[string]cachedFile
}

// Index is the content of the folder now, sorted by folder. A folder or a file
// in it that cannot be read is an entry with the problem; the error means that
// the folder itself cannot be read.
func (s *Scanner) Index() (reports.Index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &scan{Scanner: s, seen: map[string]cachedFile{}, latest: latestOf(s.FS)}
	top, err := fs.ReadDir(s.FS, ".")
	if err != nil {
		return reports.Index{}, err
	}
	c.scanContents(".", top, 0)
	s.cache = c.seen
	x := reports.Index{Entries: c.entries}
	if c.truncated {
		x.Note = fmt.Sprintf("More than %d folders: the others are not listed.", maxFolders)
	}
	return x, nil
}

// latestOf is the target of the link "latest", or "".
func latestOf(fsys fs.FS) string {
	target, err := fs.ReadLink(fsys, Latest)
	if err != nil {
		return ""
	}
	return path.Clean(strings.ReplaceAll(target, `\`, "/"))
}

// ownPage is the file of the index itself.
const ownPage = "index.html"

// scan is one scan of the folder.
type scan struct {
	*Scanner
	latest    string
	seen      map[string]cachedFile // the files of this scan
	visited   int
	truncated bool
	entries   []reports.IndexEntry
}

// scanFolder scans one folder.
func (c *scan) scanFolder(dir string, depth int) {
	if c.visited++; c.visited > maxFolders {
		c.truncated = true
		return
	}
	contents, err := fs.ReadDir(c.FS, dir)
	if err != nil {
		c.entries = append(c.entries, reports.IndexEntry{Folder: dir, Kind: reports.IndexUnread, Problem: reason(err)})
		return
	}
	c.scanContents(dir, contents, depth)
}

// scanContents adds the documents in a folder, and scans the folders in it: of
// a folder with documents only the shards, since the other ones have its pages.
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
			c.scanFolder(path.Join(dir, d.Name()), depth+1)
		}
	}
}

// shards are the folders of shards.
func shards(contents []fs.DirEntry) []fs.DirEntry {
	var out []fs.DirEntry
	for _, d := range contents {
		if strings.HasPrefix(d.Name(), "shard-") {
			out = append(out, d)
		}
	}
	return out
}

// folder is one folder with its content.
type folder struct {
	dir   string
	files map[string]fs.DirEntry
}

func (f folder) has(name string) bool { return f.files[name] != nil }

// entriesOf returns the entries of a folder: one for each kind of document in
// it.
func (c *scan) entriesOf(f folder) []reports.IndexEntry {
	var out []reports.IndexEntry
	for _, r := range readers {
		if !r.in(f) {
			continue
		}
		e := reports.IndexEntry{Kind: r.kind}
		if err := r.read(c, f, &e); err != nil {
			e = reports.IndexEntry{Kind: reports.IndexUnread, Problem: r.problem(f, reason(err))}
		}
		e.Folder, e.Latest = f.dir, f.dir == c.latest
		for _, p := range r.pages {
			if f.has(p.File) && path.Join(f.dir, p.File) != ownPage {
				e.Pages = append(e.Pages, p)
			}
		}
		out = append(out, e)
	}
	return out
}

// reader reads one kind of document.
type reader struct {
	kind     reports.IndexKind
	document string
	journal  string // "" for none
	pages    []reports.IndexPage
	read     func(c *scan, f folder, e *reports.IndexEntry) error
}

func (r reader) in(f folder) bool {
	return f.has(r.document) || r.journal != "" && f.has(r.journal)
}

// problem is the reason why a file of this kind cannot be read, after its name.
func (r reader) problem(f folder, why string) string {
	name := r.document
	if !f.has(name) {
		name = r.journal
	}
	for _, known := range []string{r.document, r.journal} {
		if known != "" && strings.HasPrefix(why, known+":") {
			return why
		}
	}
	return name + ": " + why
}

// readers are all kinds, in the order of the index.
var readers = []reader{
	{reports.IndexRun, "run.json", "", []reports.IndexPage{{Name: "Report", File: "report.html"}, {Name: "Markdown", File: "report.md"},
		{Name: "text", File: "report.txt"}, {Name: "JSON", File: "run.json"}, {Name: "trace for a viewer", File: "trace.chrome.json"}}, readRun},
	{reports.IndexExplore, "explore.json", "explore.jsonl", campaignPages("explore"), readExploration},
	{reports.IndexSweep, "sweep.json", "sweep.jsonl", campaignPages("sweep"), readSweep},
	{reports.IndexMatrix, "matrix.json", "", []reports.IndexPage{{Name: "Pages", File: "index.html"}, {Name: "Markdown", File: "MATRIX.md"},
		{Name: "text", File: "matrix.txt"}, {Name: "JSON", File: "matrix.json"}}, readMatrix},
	{reports.IndexReview, "review.html", "", []reports.IndexPage{{Name: "Review", File: "review.html"}, {Name: "Markdown", File: "review.md"},
		{Name: "JSON", File: "review.json"}}, readReview},
}

func campaignPages(kind string) []reports.IndexPage {
	return []reports.IndexPage{{Name: "Report", File: kind + ".html"}, {Name: "text", File: kind + ".txt"}, {Name: "JSON", File: kind + ".json"}}
}
