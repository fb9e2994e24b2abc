// Package bruteforce is empty: the second judge is in locksim/checker/bruteforce. The folder goes when no script builds it.
package bruteforce
