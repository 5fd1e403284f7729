//go:build cgo

// Package needscgo is what the compiler does not find where cgo is switched off: its path says what to do.
package needscgo
