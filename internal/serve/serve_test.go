package serve_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locksim/internal/serve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "what lies outside"

// folder is a folder with files, next to files that must not be served.
func folder(t testing.TB) *os.Root {
	t.Helper()
	top := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.txt", secret)
	write("out/run/report.html", "<p>a report")
	write("out/run/run.json", "{}")
	write("out/run/odd name?.md", "# odd")
	write("out/run/tool.wasm", "bytes")
	write("out/run/.run.json-123", secret)
	write("out/.hidden/run.json", secret)
	for link, to := range map[string]string{"out/latest": "run", "out/outside": "..", "out/absolute": top,
		"out/secret.txt": "../secret.txt", "out/run/loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(top, "out/run/pipe.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(top, "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// start serves the folder until the end of the test, and returns the address.
func start(t *testing.T, index func() ([]byte, error)) string {
	t.Helper()
	l, err := serve.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	h := serve.Handler(folder(t), index)
	go func() { ended <- serve.Run(ctx, l, h, log.New(io.Discard, "", 0)) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
	return l.Addr().String()
}

func fine() ([]byte, error) { return []byte("<p>the index"), nil }

// send sends bytes and returns the first answer, with its body.
func send(t *testing.T, addr, bytes string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, bytes); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(bytes, " ")
	r, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", bytes, err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(body)
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" }

// The files of the folder are served with their types.
func TestServesFiles(t *testing.T) {
	addr := start(t, fine)
	for path, want := range map[string]struct{ kind, body string }{
		"/":                             {"text/html; charset=utf-8", "<p>the index"},
		"/index.html?x=1":               {"text/html; charset=utf-8", "<p>the index"},
		"/run/report.html":              {"text/html; charset=utf-8", "<p>a report"},
		"/latest/report.html":           {"text/html; charset=utf-8", "<p>a report"},
		"/run/run.json":                 {"application/json", "{}"},
		"/run/odd%20name%3F.md":         {"text/plain; charset=utf-8", "# odd"},
		"/run/tool.wasm":                {"application/octet-stream", "bytes"},
		"http://localhost/run/run.json": {"application/json", "{}"},
	} {
		r, body := send(t, addr, get(path))
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != want.kind || body != want.body {
			t.Errorf("%s: %s, %s, %q", path, r.Status, r.Header.Get("Content-Type"), body)
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(r.Header.Get("Content-Security-Policy"), "default-src 'none';") {
			t.Errorf("%s: the headers are %v", path, r.Header)
		}
	}
	if r, body := send(t, addr, strings.Replace(get("/run/run.json"), "GET", "HEAD", 1)); r.StatusCode != http.StatusOK ||
		body != "" || r.ContentLength != 2 {
		t.Errorf("HEAD: %s, %d bytes, %q", r.Status, r.ContentLength, body)
	}
	if r, body := send(t, addr, strings.Replace(get("/"), "GET", "HEAD", 1)); r.StatusCode != http.StatusOK || body != "" {
		t.Errorf("HEAD of the index: %s, %q", r.Status, body)
	}
}

// escapes are paths of no file, or of a file outside.
var escapes = []string{
	"/..", "/../secret.txt", "/run/../../secret.txt", "/%2e%2e/secret.txt", "/%2e%2e%2fsecret.txt",
	"/run/%2e%2e/%2e%2e/secret.txt", "/..%2fsecret.txt",
	"/%252e%252e/secret.txt", "/....//secret.txt", "/./run/run.json", "//run/run.json", "/run//run.json", "/run/run.json/",
	"/run/run.json/x",
	`/..\secret.txt`, "/..%5csecret.txt", `/run\run.json`, "/%2fetc%2fpasswd", "//etc/passwd", "/C:/secret.txt",
	"/run/run.json%00.html", "/run/report.html::$DATA",
	"/secret.txt", "/outside/secret.txt", "/absolute/secret.txt", "/outside/out/run/run.json", "/run/loop", "/run/loop/x",
	"/.hidden/run.json", "/run/.run.json-123", "/run/%2erun.json-123", "/run", "/run/", "/latest", "/latest/", "/outside/",
	"/run/pipe.txt", "/nothing", "/%ff", "/%0a",
}

// No file outside the folder and no hidden file is served, and no folder is
// listed.
func TestServesNothingElse(t *testing.T) {
	addr := start(t, fine)
	for _, path := range escapes {
		r, body := send(t, addr, get(path))
		if r.StatusCode < 400 || r.StatusCode >= 500 || strings.Contains(body, secret) ||
			strings.Contains(body, "report.html") {
			t.Errorf("%s: %s, %q", path, r.Status, body)
		}
	}
}

// A malformed request gets an error or no answer, and the next request is
// answered.
func TestSurvivesMalformedRequests(t *testing.T) {
	addr := start(t, fine)
	for bytes, want := range map[string]int{
		"\r\n\r\n\r\n": 400,
		"GET\r\n\r\n":  400,
		"GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n":                                                 505,
		"GET /%zz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":                                              400,
		"GET /\x00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":                                             400,
		"GET / HTTP/1.1\r\n\r\n":                                                                    400,
		"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n":                                              400,
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nA: " + strings.Repeat("a", 1<<16) + "\r\n\r\n":        431,
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n":                           400,
		"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nTransfer-Encoding: what\r\n\r\n": 501,
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and more of a handshake\r\n\r\n":              400,
		"GET / HTTP/1.0\r\n\r\n":                                                                    403, // no Host at all
		"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n":                           405,
		"DELETE /run/run.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":                                  405,
		"BREW / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":                                                405,
		"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n":                                             405,
		"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n":                                 405,
		"GET /run/run.json HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes=9-1\r\n\r\n":                 416,
	} {
		if r, body := send(t, addr, bytes); r.StatusCode != want {
			t.Errorf("%.60q: %s, want %d\n%s", bytes, r.Status, want, body)
		}
	}
	for _, bytes := range []string{"", "G", "GET / HT", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"} { // incomplete requests
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, bytes)
		_ = conn.Close()
	}
	if r, _ := send(t, addr, get("/run/run.json")); r.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s", r.Status)
	}
}

// The index may fetch itself; a report may not fetch anything. If the index
// cannot be made, the answer has the reason.
func TestIndexPolicy(t *testing.T) {
	addr := start(t, fine)
	index, _ := send(t, addr, get("/"))
	report, _ := send(t, addr, get("/run/report.html"))
	if p := index.Header.Get("Content-Security-Policy"); p != serve.Policy+"; connect-src 'self'" {
		t.Errorf("policy of the index: %s", p)
	}
	if p := report.Header.Get("Content-Security-Policy"); p != serve.Policy || strings.Contains(p, "connect-src") {
		t.Errorf("policy of a report: %s", p)
	}
	addr = start(t, func() ([]byte, error) { return nil, errors.New("file does not exist") })
	if r, body := send(t, addr, get("/")); r.StatusCode != http.StatusInternalServerError ||
		!strings.Contains(body, "file does not exist") {
		t.Errorf("without an index: %s, %q", r.Status, body)
	}
}
