// Package browser tests the pages in a real Chromium. It is a separate module, so that
// nothing else depends on the library that controls the browser.
package browser
