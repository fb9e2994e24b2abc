// Package library holds the scenarios that come with locksim, one YAML file each.
// [locksim/scenarios/file.Library] reads them.
package library

import "embed"

// Files are the scenarios, each under its file's name.
//
//go:embed *.yaml
var Files embed.FS
