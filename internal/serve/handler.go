package serve

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// Handler answers GET and HEAD: / and /index.html with what index makes, and
// other paths with the files of a folder. Folders are not listed, and hidden
// files and folders are not there. It is safe for concurrent use if index is.
func Handler(folder *os.Root, index func() ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		name, ok := fileName(r.URL.Path)
		switch {
		case !local(r.Host):
			refuse(w, http.StatusForbidden, "This server answers to 127.0.0.1 and localhost, and to no other name.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "This server only shows: it takes GET and HEAD.")
		case r.URL.Path == "/" || name == "index.html":
			page(w, r, index)
		case !ok:
			refuse(w, http.StatusNotFound, "There is no such file.")
		default:
			file(w, r, folder, name)
		}
	})
}

// Policy is what a page may load: nothing that does not lie in it, but for frames
// and pictures of this server. It is that of the pages themselves.
const Policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src 'self' data:; frame-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// indexPolicy lets the index fetch itself, besides.
const indexPolicy = Policy + "; connect-src 'self'"

func secure(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
}

// local reports whether a Host header names this machine: else a page of the
// internet may have made its own name lead here.
func local(host string) bool {
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

// refuse answers with a line of text.
func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text + "\n")) // the browser may be gone
}

// page answers with the index.
func page(w http.ResponseWriter, r *http.Request, index func() ([]byte, error)) {
	b, err := index()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "The folder cannot be read: "+err.Error())
		return
	}
	w.Header().Set("Content-Security-Policy", indexPolicy)
	w.Header().Set("Content-Type", types[".html"])
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(b)
	}
}

// file answers with a file of the folder.
func file(w http.ResponseWriter, r *http.Request, folder *os.Root, name string) {
	info, err := folder.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		missing(w, err)
		return
	}
	f, err := folder.Open(name)
	if err != nil {
		missing(w, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	describe(w.Header(), name)
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// missing answers that there is no file, whatever the reason: who asks need not
// know what lies outside the folder.
func missing(w http.ResponseWriter, err error) {
	if errors.Is(err, fs.ErrPermission) {
		refuse(w, http.StatusForbidden, "This file may not be read.")
		return
	}
	refuse(w, http.StatusNotFound, "There is no such file.")
}
