//go:build !cgo

package kvstore

// The binding calls a C library, so the build stops here, at a path that says what to do.
import _ "github.com/libkvstore/libkvstore/bindings/go/internal/set_CGO_ENABLED_to_1_and_install_a_C_compiler"
