package main

func (r results) page() (string, error) { return "", nil }
