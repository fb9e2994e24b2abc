package serve

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Handler answers GET and HEAD: / and /index.html with the result of index, and
// other paths with the files of a folder. It does not list folders, nor serve
// hidden files and folders. It is safe for concurrent use if index is.
func Handler(folder *os.Root, index func() ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		name, ok := fileName(r.URL.Path)
		switch {
		case !isLocal(r.Host):
			replyError(w, http.StatusForbidden, "This server answers to 127.0.0.1 and localhost, and to no other name.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			replyError(w, http.StatusMethodNotAllowed, "This server accepts only GET and HEAD.")
		case r.URL.Path == "/" || name == "index.html":
			serveIndex(w, r, index)
		case !ok:
			replyError(w, http.StatusNotFound, "There is no such file.")
		default:
			serveFile(w, r, folder, name)
		}
	})
}

// Page answers GET and HEAD of / with one page, which has a content security policy of its own. It is safe for
// concurrent use.
func Page(page []byte, policy string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		switch {
		case !isLocal(r.Host):
			replyError(w, http.StatusForbidden, "This server answers to 127.0.0.1 and localhost, and to no other name.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			replyError(w, http.StatusMethodNotAllowed, "This server accepts only GET and HEAD.")
		case r.URL.Path != "/":
			replyError(w, http.StatusNotFound, "There is no such file.")
		default:
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("Content-Type", contentTypes[".html"])
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
		}
	})
}

// Policy is the content security policy of a page: it may load nothing from
// outside itself, except frames and pictures of this server. The pages
// themselves have the same policy.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' data:; " +
	"frame-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// indexPolicy also lets the index fetch itself.
const indexPolicy = Policy + "; connect-src 'self'"

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
}

// isLocal reports whether a Host header names this machine. Another name may be
// that of a page of the internet that resolves to this machine.
func isLocal(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		name = h
	} else if len(host) > 2 && host[0] == '[' && host[len(host)-1] == ']' {
		name = host[1 : len(host)-1]
	}
	return strings.EqualFold(name, "localhost") || net.ParseIP(name).IsLoopback()
}

// replyError answers with a line of text.
func replyError(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text + "\n")) // the browser may have closed the connection
}

func serveIndex(w http.ResponseWriter, r *http.Request, index func() ([]byte, error)) {
	b, err := index()
	if err != nil {
		replyError(w, http.StatusInternalServerError, "The folder cannot be read: "+err.Error())
		return
	}
	w.Header().Set("Content-Security-Policy", indexPolicy)
	w.Header().Set("Content-Type", contentTypes[".html"])
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(b)
	}
}

// serveFile answers with a file of the folder.
func serveFile(w http.ResponseWriter, r *http.Request, folder *os.Root, name string) {
	info, err := folder.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		replyMissing(w, err)
		return
	}
	f, err := folder.Open(name)
	if err != nil {
		replyMissing(w, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	setContentType(w.Header(), name)
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// replyMissing answers that there is no file, for any reason but a missing
// permission: a client must not learn what is outside the folder.
func replyMissing(w http.ResponseWriter, err error) {
	if errors.Is(err, fs.ErrPermission) {
		replyError(w, http.StatusForbidden, "This file may not be read.")
		return
	}
	replyError(w, http.StatusNotFound, "There is no such file.")
}
