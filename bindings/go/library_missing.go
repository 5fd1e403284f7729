//go:build !cgo

package kvstore

// The binding calls a C library. Without cgo the build stops here, and the import path says what to do.
import _ "github.com/libkvstore/libkvstore/bindings/go/internal/set_CGO_ENABLED_to_1_and_install_a_C_compiler"
