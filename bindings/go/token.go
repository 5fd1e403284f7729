package kvstore

// #include <stdint.h>
// #include <kvstore.h>
//
// kv_status kvgoToken(void *context, char *provider, char *former, int32_t refused, char **token);
// void kvgoFree(void *context);
//
// static inline kv_token_fn kvgo_token_fn(void) { return (kv_token_fn)kvgoToken; }
// static inline kv_free_fn kvgo_free_token_fn(void) { return kvgoFree; }
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

// A TokenRequest is the question to a token provider.
type TokenRequest struct {
	// Provider is the maker of the token: "userPools", "oidc", "function" or "token", as in [APIAuth].
	Provider string
	// Former is the token that was in use. It is empty if there was none.
	Former string
	// Refused says that the backend has refused that token. Otherwise it is about to expire.
	Refused bool
}

type tokenProvider func(TokenRequest) (string, error)

// SetTokenProvider sets the function that gives the tokens of a backend that takes tokens of others, such as AppSync; nil
// removes it. It is called when there is no token, when the backend has refused the last one, and a minute before a JSON Web
// Token expires, once for all requests that wait for a token. It runs on a thread of its own and may block. If its error is
// [ErrNoUser], [ErrNetwork] or [ErrTimeout], the calls return that; otherwise they return [ErrUnauthorized]. Pending writes stay in
// the queue.
func (c *Client) SetTokenProvider(provide func(TokenRequest) (string, error)) error {
	defer runtime.KeepAlive(c)
	var left *C.kv_error
	if provide == nil {
		return check(C.kv_client_set_token_provider(c.handle, nil, nil, nil, &left), left)
	}
	status := C.kv_client_set_token_provider(c.handle, C.kvgo_token_fn(), remember(tokenProvider(provide)),
		C.kvgo_free_token_fn(), &left)
	return check(status, left)
}

//export kvgoToken
func kvgoToken(context unsafe.Pointer, provider, former *C.char, refused C.int32_t, token **C.char) C.kv_status {
	provide, ok := recall(context).(tokenProvider)
	if !ok {
		return C.KV_UNAUTHORIZED
	}
	text, err := provide(TokenRequest{Provider: C.GoString(provider), Former: C.GoString(former), Refused: refused != 0})
	if err == nil {
		*token = C.CString(text)
		return C.KV_OK
	}
	for _, status := range []Status{ErrNoUser, ErrNetwork, ErrTimeout} {
		if errors.Is(err, status) {
			return C.kv_status(status)
		}
	}
	return C.KV_UNAUTHORIZED
}
