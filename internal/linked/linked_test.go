package linked

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const redis = "github.com/redis/go-redis/v9"

// tree is a main module example.org/x with what go list says of the modules that its go.mod lists.
type tree struct {
	goMod  string            // its go.mod, without the lines module and go
	listed map[string]string // version, "version => version", "version => module version" or "version => folder", by path
	goMods map[string]string // of other modules
}

func (tr tree) read(t *testing.T) []Client {
	t.Helper()
	dir := t.TempDir()
	write := func(name, module, text string) string {
		name = filepath.Join(dir, filepath.FromSlash(name), "go.mod")
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte("module "+module+"\n\ngo 1.26.0\n"+text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("x", "example.org/x", tr.goMod)
	tr.goMods["locksim"] = "require (\n\t" + redis + " v9.23.0\n\tgithub.com/jackc/pgx/v5 v5.12.0\n)\n"
	list := func(_ string, paths []string) (all []module, err error) {
		for _, path := range paths {
			version, to, _ := strings.Cut(tr.listed[path], " => ")
			m := module{Path: path, Version: version}
			switch words := strings.Fields(to); {
			case len(words) == 2:
				m.Replace = &replacement{words[0], words[1]}
			case strings.HasPrefix(to, "v"):
				m.Replace = &replacement{path, to}
			case to != "":
				m.Replace = &replacement{Path: to}
			}
			if text, ok := tr.goMods[path]; ok {
				m.GoMod = write("cache/"+path, path, text)
			}
			all = append(all, m)
		}
		return all, nil
	}
	b, err := read("locksim", "example.org/x", filepath.Join(dir, "x"), list)
	if err != nil {
		t.Fatal(err)
	}
	return b.clients
}

func TestClients(t *testing.T) {
	const redsync, outer = "github.com/go-redsync/redsync/v4", "example.org/outer"
	for name, c := range map[string]struct {
		tree
		want []string
	}{
		"raised by go mod tidy": {
			tree{goMod: "require (\n" + redis + " v9.23.0\nlocksim v0.0.0\n)",
				listed: map[string]string{redis: "v9.23.0", "locksim": "v0.0.0 => ../locksim"}},
			[]string{"linked: " + redis + " v9.23.0, the least that locksim requires: go mod tidy raises a lower one in " +
				"go.mod to it; to test with another, go mod edit -replace=" + redis + "=" + redis + "@VERSION && go mod tidy"},
		},
		"higher than locksim requires": {
			tree{goMod: "require (\n" + redis + " v9.30.0\nlocksim v0.0.0\n)",
				listed: map[string]string{redis: "v9.30.0", "locksim": "v0.0.0"}},
			[]string{"linked: " + redis + " v9.30.0"},
		},
		"only locksim asks": {
			tree{goMod: "require locksim v0.0.0\nrequire " + redis + " v9.23.0 // indirect",
				listed: map[string]string{redis: "v9.23.0", "locksim": "v0.0.0"}},
			nil,
		},
		"a library asks for less": {
			tree{goMod: "require (\n" + redsync + " v4.11.0\nlocksim v0.0.0\n)\nrequire " + redis + " v9.23.0 // indirect",
				listed: map[string]string{redis: "v9.23.0", redsync: "v4.11.0", "locksim": "v0.0.0"},
				goMods: map[string]string{redsync: "require " + redis + " v9.0.2"}},
			[]string{"linked: " + redis + " v9.23.0, which locksim requires; " + redsync + " v4.11.0 asks for v9.0.2: " +
				"to test with that, go mod edit -replace=" + redis + "=" + redis + "@v9.0.2 && go mod tidy"},
		},
		"a library asks for less than the module itself does": {
			tree{goMod: "require (\n" + redsync + " v4.11.0\n" + redis + " v9.30.0\nlocksim v0.0.0\n)",
				listed: map[string]string{redis: "v9.30.0", redsync: "v4.11.0", "locksim": "v0.0.0"},
				goMods: map[string]string{redsync: "require " + redis + " v9.0.2"}},
			[]string{"linked: " + redis + " v9.30.0"},
		},
		"a library of no concern": {
			tree{goMod: "require (\nexample.org/web v1.0.0\nlocksim v0.0.0\n)\nrequire (\n" + redis +
				" v9.23.0 // indirect\nexample.org/deep v1.0.0 // indirect\n)",
				listed: map[string]string{redis: "v9.23.0", "example.org/web": "v1.0.0", "example.org/deep": "v1.0.0",
					"locksim": "v0.0.0"},
				goMods: map[string]string{"example.org/web": "require example.org/deep v1.0.0", "example.org/deep": "require " +
					redis + " v9.0.2"}},
			nil,
		},
		"pinned": {
			tree{goMod: "require (\n" + redsync + " v4.11.0\n" + redis + " v9.23.0\nlocksim v0.0.0\n)\nreplace " + redis +
				" => " + redis + " v9.7.0",
				listed: map[string]string{redis: "v9.23.0 => v9.7.0", redsync: "v4.11.0", "locksim": "v0.0.0"},
				goMods: map[string]string{redsync: "require " + redis + " v9.0.2"}},
			[]string{"linked: " + redis + " v9.7.0"},
		},
		"the module that ships is in a folder": {
			tree{goMod: "require (\n" + outer + " v0.0.0\nlocksim v0.0.0\n)\nrequire " + redis + " v9.23.0 // indirect",
				listed: map[string]string{redis: "v9.23.0", outer: "v0.0.0 => ../", "locksim": "v0.0.0"},
				goMods: map[string]string{outer: "require " + redis + " v9.7.0"}},
			[]string{"linked: " + redis + " v9.23.0, which locksim requires; " + outer + " asks for v9.7.0: " +
				"to test with that, go mod edit -replace=" + redis + "=" + redis + "@v9.7.0 && go mod tidy"},
		},
		"a fork ships": {
			tree{goMod: "require (\n" + outer + " v0.0.0\nlocksim v0.0.0\n)\nrequire " + redis + " v9.23.0 // indirect",
				listed: map[string]string{redis: "v9.23.0", outer: "v0.0.0 => ../", "locksim": "v0.0.0"},
				goMods: map[string]string{outer: "require " + redis + " v9.7.0\nreplace " + redis + " => example.org/fork v1.0.0"}},
			[]string{"linked: " + redis + " v9.23.0, which locksim requires; " + outer + " asks for example.org/fork v1.0.0: " +
				"to test with that, go mod edit -replace=" + redis + "=example.org/fork@v1.0.0 && go mod tidy"},
		},
		"a folder ships": {
			tree{goMod: "require (\n" + outer + " v0.0.0\nlocksim v0.0.0\n)\nrequire " + redis + " v9.23.0 // indirect",
				listed: map[string]string{redis: "v9.23.0", outer: "v0.0.0 => ../", "locksim": "v0.0.0"},
				goMods: map[string]string{outer: "require " + redis + " v9.7.0\nreplace " + redis + " v9.7.0 => ./fork"}},
			[]string{"linked: " + redis + " v9.23.0, which locksim requires; " + outer + " asks for ../fork: " +
				"to test with that, go mod edit -replace=" + redis + "=../fork && go mod tidy"},
		},
		"a workspace": {
			tree{goMod: "require " + redis + " v9.7.0",
				listed: map[string]string{redis: "v9.23.0", "locksim": ""}},
			[]string{"linked: " + redis + " v9.23.0, which locksim requires; example.org/x asks for v9.7.0: " +
				"to test with that, go mod edit -replace=" + redis + "=" + redis + "@v9.7.0 && go mod tidy"},
		},
		"the highest of two libraries": {
			tree{goMod: "require (\nexample.org/a v1.0.0\nexample.org/b v1.0.0\nlocksim v0.0.0\n)\nrequire " + redis +
				" v9.23.0 // indirect",
				listed: map[string]string{redis: "v9.23.0", "example.org/a": "v1.0.0", "example.org/b": "v1.0.0",
					"locksim": "v0.0.0"},
				goMods: map[string]string{"example.org/a": "require " + redis + " v9.10.0", "example.org/b": "require " + redis +
					" v9.9.0"}},
			[]string{"linked: " + redis + " v9.23.0, which locksim requires; example.org/a v1.0.0 asks for v9.10.0: " +
				"to test with that, go mod edit -replace=" + redis + "=" + redis + "@v9.10.0 && go mod tidy"},
		},
		"another client": {
			tree{goMod: "require (\nexample.org/a v1.0.0\nlocksim v0.0.0\n)\nrequire github.com/jackc/pgx/v5 v5.12.0 // " +
				"indirect",
				listed: map[string]string{"github.com/jackc/pgx/v5": "v5.12.0", "example.org/a": "v1.0.0", "locksim": "v0.0.0"},
				goMods: map[string]string{"example.org/a": "require github.com/jackc/pgx/v5 v5.7.0"}},
			[]string{"linked: github.com/jackc/pgx/v5 v5.12.0, which locksim requires; example.org/a v1.0.0 asks for v5.7.0: " +
				"to test with that, go mod edit -replace=github.com/jackc/pgx/v5=github.com/jackc/pgx/v5@v5.7.0 && go mod tidy"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.goMods == nil {
				c.goMods = map[string]string{}
			}
			var got []string
			for _, client := range c.read(t) {
				got = append(got, client.String())
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A program that was moved, or whose go.mod cannot be read, says nothing.
func TestNothingIsKnown(t *testing.T) {
	none := func(string, []string) ([]module, error) { return nil, errors.New("no go") }
	for name, text := range map[string]string{
		"no go.mod":      "",
		"another module": "module example.org/y\n",
		"a wrong file":   "module example.org/x\nrequire (\n",
		"no Go":          "module example.org/x\nrequire locksim v0.0.0\n",
	} {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := read("locksim", "example.org/x", dir, none); err == nil {
			t.Errorf("%s: %+v", name, b)
		}
	}
	if got := Clients(); len(got) != 0 {
		t.Errorf("a test of locksim itself: %v", got)
	}
}
