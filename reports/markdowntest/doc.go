// Package markdowntest reads the reports in Markdown with the parsers that others
// read them with: goldmark, and mermaid itself. It is a module of its own, so that
// the main one does not depend on them.
//
// The tests with mermaid need node, npm and its registry. They skip where these are
// missing, and fail instead when LOCKSIM_REQUIRE_LIVE=1.
package markdowntest
