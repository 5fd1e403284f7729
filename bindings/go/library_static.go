//go:build cgo && kvstore_static

package kvstore

// #cgo CFLAGS: -I${SRCDIR}/static -I${SRCDIR}/internal/missing
// #cgo LDFLAGS: ${SRCDIR}/static/libkvstore.a -lm -lpthread -ldl
import "C"
