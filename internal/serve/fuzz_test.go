package serve_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"locksim/internal/serve"
)

// FuzzPath searches for a path that reaches a file outside or a hidden one, or
// gets an unexpected status.
func FuzzPath(f *testing.F) {
	for _, path := range escapes {
		f.Add(path)
		if decoded, err := url.PathUnescape(path); err == nil {
			f.Add(decoded)
		}
	}
	f.Add("/run/report.html")
	f.Add("")
	h := serve.Handler(folder(f), fine)
	f.Fuzz(func(t *testing.T, path string) {
		r := &http.Request{Method: http.MethodGet, Host: "localhost", URL: &url.URL{Path: path}, Header: http.Header{}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if body := w.Body.String(); strings.Contains(body, secret) {
			t.Errorf("%q: %s", path, body)
		}
		switch w.Code {
		case http.StatusOK, http.StatusForbidden, http.StatusNotFound:
		default:
			t.Errorf("%q: %d", path, w.Code)
		}
	})
}
