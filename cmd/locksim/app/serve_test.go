package app

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/serve"
	"locksim/reports/html"
	"locksim/reports/index"
)

var shownAt = regexp.MustCompile(`^serving .* at (http://127\.0\.0\.1:[0-9]+/) \(Ctrl-C to stop\)$`)

// serve prints its address, shows the results in the folder and those added later, and
// ends with 0 after Ctrl-C.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	if code, _, errs := call(t, nil, "run", "calm", "--fencing", "none", "--out",
		filepath.Join(dir, "first")); code != console.ExitExpected {
		t.Fatal(errs)
	}
	cmd := exec.Command(os.Args[0], "serve", dir, "--addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asChild+"=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless a test has failed
	lines := bufio.NewScanner(out)
	lines.Scan()
	m := shownAt.FindStringSubmatch(lines.Text())
	if m == nil {
		t.Fatalf("it prints %q\n%s", lines.Text(), errs.String())
	}
	if page := fetched(t, m[1]); !strings.Contains(page, `<a href="./first/report.html">calm with fenced</a>`) ||
		!strings.Contains(page, "data-live") || strings.Contains(page, "./second/") {
		t.Errorf("the index is\n%s", page)
	}
	if page := fetched(t, m[1]+"first/report.html"); !strings.Contains(page, "<h1>") {
		t.Errorf("the report is\n%s", page)
	}
	if err := os.CopyFS(filepath.Join(dir, "second"), os.DirFS(filepath.Join(dir, "first"))); err != nil {
		t.Fatal(err)
	}
	if page := fetched(t, m[1]); !strings.Contains(page, `<a href="./second/report.html">`) {
		t.Errorf("the index does not show the added run\n%s", page)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || len(rest) > 0 || errs.Len() > 0 {
		t.Errorf("it ended with %v, and printed %q and %q", err, rest, errs.String())
	}
	if err != nil {
		t.Error(err)
	}
}

func fetched(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, r.Status, err)
	}
	return string(b)
}

var metaPolicy = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)

// The policy of the server allows everything that the policy in the pages allows:
// otherwise a served report would differ from the file.
func TestServePolicyIsThatOfThePages(t *testing.T) {
	var page bytes.Buffer
	if err := html.Index(&page, index.Index{}); err != nil {
		t.Fatal(err)
	}
	m := metaPolicy.FindStringSubmatch(page.String())
	if m == nil {
		t.Fatal("the page has no policy")
	}
	served := map[string]string{}
	for part := range strings.SplitSeq(serve.Policy, "; ") {
		what, sources, _ := strings.Cut(part, " ")
		served[what] = sources
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(m[1], "&#39;", "'"), "; ") {
		what, sources, _ := strings.Cut(part, " ")
		for source := range strings.FieldsSeq(sources) {
			if !strings.Contains(served[what], source) {
				t.Errorf("pages allow %s %s, the server has %q: change serve.Policy too", what, source, served[what])
			}
		}
	}
}
