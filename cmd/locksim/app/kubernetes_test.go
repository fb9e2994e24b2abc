package app

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"locksim/internal/campaign"
)

// manifest has the fields of examples/kubernetes/job.yaml that the test checks.
type manifest struct {
	Kind string
	Spec struct {
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		Template                 struct {
			Spec struct {
				Containers []struct {
					Args         []string
					VolumeMounts []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct{ Name string }
			}
		}
	}
}

// jobManifest is the Job among the documents of the example.
func jobManifest(t *testing.T) manifest {
	t.Helper()
	f, err := os.Open("../../../examples/kubernetes/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for dec := yaml.NewDecoder(f); ; {
		var m manifest
		err := dec.Decode(&m)
		switch {
		case errors.Is(err, io.EOF):
			t.Fatal("there is no Job in it")
		case err != nil:
			t.Fatal(err)
		case m.Kind == "Job":
			return m
		}
	}
}

// The command accepts the manifest's command line, each pod has another shard, and the
// results go to the volume.
func TestKubernetesManifest(t *testing.T) {
	m := jobManifest(t)
	c := m.Spec.Template.Spec.Containers[0]
	if m.Spec.CompletionMode != "Indexed" || m.Spec.Parallelism < 1 || m.Spec.Parallelism > m.Spec.Completions {
		t.Errorf("%+v", m.Spec)
	}
	shards := map[campaign.Shard]bool{}
	for i := range m.Spec.Completions {
		shard, f := parsedExplore(t, c.Args, i)
		shards[shard] = true
		if shard.Count != m.Spec.Completions || !f.resume || !strings.HasPrefix(f.out, c.VolumeMounts[0].MountPath) {
			t.Errorf("pod %d: %+v, shard %v of %d", i, f, shard, m.Spec.Completions)
		}
		if plans, err := f.plans(&shell{}); err != nil || plans[0].Jobs() < m.Spec.Completions {
			t.Errorf("pod %d: %v", i, err)
		}
	}
	if len(shards) != m.Spec.Completions || c.VolumeMounts[0].Name != m.Spec.Template.Spec.Volumes[0].Name {
		t.Errorf("%d shards for %d pods", len(shards), m.Spec.Completions)
	}
}

// parsedExplore are the flags of a command line as the i-th pod has them.
func parsedExplore(t *testing.T, args []string, i int) (campaign.Shard, exploreFlags) {
	t.Helper()
	var f exploreFlags
	cmd := f.command(&shell{})
	if len(args) == 0 || args[0] != cmd.Name() {
		t.Fatalf("%q is no exploration", args)
	}
	if err := cmd.ParseFlags(args[1:]); err != nil {
		t.Fatal(err)
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Fatal(err)
	}
	shard, err := f.check(func(name string) string {
		return map[string]string{indexVariable: strconv.Itoa(i)}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return shard, f
}
