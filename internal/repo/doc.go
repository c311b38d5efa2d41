// Package repo holds tests about the repository itself: which package may import which, that no C is built anywhere, that every package
// says what it is, and how files look. It has no code for anybody to import.
package repo
