// Package markdowntest reads the reports in Markdown with other parsers: goldmark, and
// mermaid itself. It is a separate module, so that the main one does not depend on
// them.
//
// The tests with mermaid need node, npm and its registry. They skip where these are
// missing, and fail instead when LOCKSIM_REQUIRE_LIVE=1.
package markdowntest
