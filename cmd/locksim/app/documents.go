package app

// Version is the JSON that the command version prints.
type Version struct {
	// Program is the name of the program.
	Program string `json:"program"`
	// Version is the version of the program.
	Version string `json:"version"`
	// Commit is the commit from which the program was built, where Git was asked.
	Commit string `json:"commit,omitempty"`
	// Modified says that files differed from that commit.
	Modified bool `json:"modified,omitempty"`
	// Locksim is the version of locksim, where the program is built in another module.
	Locksim string `json:"locksim,omitempty"`
	// Go is the version of Go.
	Go string `json:"go"`
	// Platform is the operating system and the architecture, as in "linux/amd64".
	Platform string `json:"platform"`
	// Runs is the version of stored runs that the program reads and writes.
	Runs int `json:"stored_runs"`
}

// Shown is the JSON that the command show prints: a scenario.
type Shown struct {
	// Name is the name of the scenario.
	Name string `json:"name"`
	// Title is what it is about.
	Title string `json:"title,omitempty"`
	// Lock is the lock that it runs with by default.
	Lock string `json:"lock"`
	// File is the name of its file.
	File string `json:"file"`
	// Source is the YAML of its file.
	Source string `json:"source"`
}

// Overlaid is the JSON that the command overlay prints.
type Overlaid struct {
	// Flag is the flag for go build, go run and go test.
	Flag string `json:"flag"`
	// File is the file that the flag names.
	File string `json:"file"`
	// GOROOT is the folder of the Go that it is for.
	GOROOT string `json:"goroot"`
}

// Written is the JSON that the commands init, pin, report DIR and playground --out print: the files that they have
// written, and what to do next.
type Written struct {
	// Files are the files.
	Files []string `json:"files"`
	// Test is the command that runs the test that init has written, or that plays what pin has stored.
	Test string `json:"test,omitempty"`
	// Explore is the command that searches for violations of the lock in it.
	Explore string `json:"explore,omitempty"`
}

// Serving is the JSON that the commands serve and playground print as soon as they answer requests.
type Serving struct {
	// Folder is the folder that it shows; absent for the playground.
	Folder string `json:"folder,omitempty"`
	// Address is the address of the index, or of the playground.
	Address string `json:"address"`
}
