package serve

import (
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"strings"
)

// fileName is the file that the path of a request denotes, relative to the
// folder. It is not ok for a path with .., an empty part, a hidden file or
// folder, a backslash, a colon or a control character. A path that is ok may
// still lead outside by a link, which an os.Root does not follow.
func fileName(urlPath string) (name string, ok bool) {
	name, rooted := strings.CutPrefix(urlPath, "/")
	if !rooted || name == "." || !fs.ValidPath(name) || strings.ContainsFunc(name, isUnsafe) {
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

// isUnsafe reports whether a character is special on some system, or a control
// character.
func isUnsafe(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }

// contentTypes are the types of files that browsers show. All others are
// offered for download.
var contentTypes = map[string]string{
	".html":  "text/html; charset=utf-8",
	".json":  "application/json",
	".jsonl": "text/plain; charset=utf-8",
	".md":    "text/plain; charset=utf-8",
	".txt":   "text/plain; charset=utf-8",
	".yaml":  "text/plain; charset=utf-8",
	".xml":   "text/plain; charset=utf-8",
	".png":   "image/png",
}

// setContentType sets the headers for a file's type.
func setContentType(h http.Header, name string) {
	if kind, ok := contentTypes[path.Ext(filepath.ToSlash(name))]; ok {
		h.Set("Content-Type", kind)
		return
	}
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", "attachment")
}
