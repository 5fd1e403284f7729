//go:build cgo

// Package needscgo does not build without cgo. Its import path is the error message, which says what to do.
package needscgo
