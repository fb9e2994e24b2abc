package serve

import (
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"strings"
)

// fileName is the file that a path of a request means, relative to the folder.
// It is not ok for what is no plain name of a file: a path with .., an empty
// part, a hidden file or folder, a backslash, a colon or a character that cannot
// be printed. What is ok may still lead outside by a link, which an os.Root
// refuses to follow.
func fileName(urlPath string) (name string, ok bool) {
	name, rooted := strings.CutPrefix(urlPath, "/")
	if !rooted || name == "." || !fs.ValidPath(name) || strings.ContainsFunc(name, odd) {
		return "", false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return "", false
		}
	}
	local := filepath.FromSlash(name)
	return local, filepath.IsLocal(local)
}

// odd reports whether a character has a meaning to some system, or none to
// people.
func odd(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }

// types are the files that browsers show. All others are offered for download.
var types = map[string]string{
	".html":  "text/html; charset=utf-8",
	".json":  "application/json",
	".jsonl": "text/plain; charset=utf-8",
	".md":    "text/plain; charset=utf-8",
	".txt":   "text/plain; charset=utf-8",
	".yaml":  "text/plain; charset=utf-8",
	".xml":   "text/plain; charset=utf-8",
	".png":   "image/png",
}

// describe says what a file is.
func describe(h http.Header, name string) {
	if kind, ok := types[path.Ext(filepath.ToSlash(name))]; ok {
		h.Set("Content-Type", kind)
		return
	}
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", "attachment")
}
