package checkout

import (
	"os"
	"path/filepath"
	"testing"
)

// The root is the same from this module, from the main one and from its folders. Outside of a module there is none.
func TestRoot(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, module, "checkout", "checkout_test.go")); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{root, filepath.Join(root, "lock", "fence"), filepath.Join(root, module)} {
		t.Chdir(dir)
		if again, err := Root(); again != root || err != nil {
			t.Errorf("from %s the root is %q, %v; want %q", dir, again, err, root)
		}
	}
	t.Chdir(t.TempDir())
	if root, err := Root(); err == nil {
		t.Errorf("outside of a module the root is %s", root)
	}
}
