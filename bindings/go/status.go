package kvstore

// #include <kvstore.h>
import "C"

// A Status is the kind of an [Error]. It is an error itself, so that errors.Is(err, ErrNotFound) holds for every error
// of that kind.
type Status int32

// The statuses are distinguished by what a caller can do about them.
const (
	// ErrMisuse: a closed client, collection or iterator was used.
	ErrMisuse Status = C.KV_MISUSE
	// ErrInvalid: an argument is not acceptable, such as malformed JSON or an empty id.
	ErrInvalid Status = C.KV_INVALID
	// ErrNotFound: there is no such entity, user or collection.
	ErrNotFound Status = C.KV_NOT_FOUND
	// ErrConflict: the entity exists already, or the backend has a newer version of it.
	ErrConflict Status = C.KV_CONFLICT
	// ErrNoUser: no user is logged in.
	ErrNoUser Status = C.KV_NO_USER
	// ErrUnauthorized: the credentials are wrong, or the session has ended. Pending writes are kept.
	ErrUnauthorized Status = C.KV_UNAUTHORIZED
	// ErrForbidden: the user may not do this.
	ErrForbidden Status = C.KV_FORBIDDEN
	// ErrPending: pending writes must be pushed or purged first.
	ErrPending Status = C.KV_PENDING
	// ErrUnsupported: this type of store, or this backend, does not support the call.
	ErrUnsupported Status = C.KV_UNSUPPORTED
	// ErrNetwork: the backend did not answer. The device is offline, or the connection was refused or lost.
	ErrNetwork Status = C.KV_NETWORK
	// ErrTimeout: the time limit of [WithTimeout] or of the client's options has passed.
	ErrTimeout Status = C.KV_TIMEOUT
	// ErrCancelled: the context ended, or the client was closed.
	ErrCancelled Status = C.KV_CANCELLED
	// ErrServer: the backend answered with an error that has no status of its own.
	ErrServer Status = C.KV_SERVER
	// ErrProtocol: the answer of the backend is not valid.
	ErrProtocol Status = C.KV_PROTOCOL
	// ErrTooLarge: a body exceeds a limit of the client or of the backend.
	ErrTooLarge Status = C.KV_TOO_LARGE
	// ErrStorage: the local database failed, or the system has no memory, thread or descriptor left.
	ErrStorage Status = C.KV_STORAGE
	// ErrCorrupt: the data file is damaged, or is not a file of this library. It was not changed.
	ErrCorrupt Status = C.KV_CORRUPT
	// ErrFull: the disk is full.
	ErrFull Status = C.KV_FULL
	// ErrBusy: another process has locked the local database for too long.
	ErrBusy Status = C.KV_BUSY
	// ErrKey: the local data is encrypted with another key, or is not encrypted though a key was given. It was not changed.
	ErrKey Status = C.KV_KEY
	// ErrInternal: a defect of the library. Please report it.
	ErrInternal Status = C.KV_INTERNAL
	// ErrCertificate: the certificate of the backend is not trusted, or the file of the option caFile cannot be read.
	ErrCertificate Status = C.KV_CERTIFICATE
)

// Error returns the name of the status, such as "KV_NOT_FOUND".
func (s Status) Error() string {
	return C.GoString(C.kv_status_name(C.kv_status(s)))
}

// failed reports whether a status is a failure. KV_OK, KV_PARTIAL and KV_DONE are none.
func failed(status C.kv_status) bool {
	return status != C.KV_OK && status != C.KV_PARTIAL && status != C.KV_DONE
}
