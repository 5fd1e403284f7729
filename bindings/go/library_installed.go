//go:build cgo && !kvstore_static

package kvstore

// #cgo pkg-config: kvstore
import "C"
