// Package action tests the GitHub Action of locksim: the script in .github/action, which is all of its work, and the
// workflows.
package action
