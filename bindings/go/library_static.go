//go:build cgo && kvstore_static

package kvstore

// #cgo CFLAGS: -I${SRCDIR}/static -I${SRCDIR}/internal/missing
// #cgo amd64 LDFLAGS: ${SRCDIR}/static/amd64/libkvstore.a
// #cgo arm64 LDFLAGS: ${SRCDIR}/static/arm64/libkvstore.a
// #cgo LDFLAGS: -lm -lpthread -ldl
import "C"
