package kvstore

// #include <kvstore.h>
//
// extern int32_t kvgoKey(void *context, char *directory, unsigned char *key, size_t capacity, size_t *length);
// extern void kvgoFree(void *context);
//
// static inline int32_t kvgo_key(void *context, const char *directory, unsigned char *key, size_t capacity,
//                                size_t *length) {
//   return kvgoKey(context, (char *)directory, key, capacity, length);
// }
//
// static inline kv_status kvgo_set_key_provider(const char *name, void *context, kv_error **error) {
//   return kv_client_set_key_provider(name, context ? kvgo_key : NULL, context, context ? kvgoFree : NULL, error);
// }
import "C"

import (
	"runtime"
	"unsafe"
)

// A Key opens local data: 32 bytes as a []byte, their Base64 as a string, a [Passphrase] or a [KeyProviderName].
type Key = any

// A Passphrase is a key of any length. Opening with it takes a moment, since it is made a key by Argon2id.
type Passphrase string

// MarshalJSON writes the passphrase as the library reads it.
func (p Passphrase) MarshalJSON() ([]byte, error) {
	return marshal(map[string]string{"passphrase": string(p)})
}

// A KeyProviderName names a function that was given to [SetKeyProvider].
type KeyProviderName string

// MarshalJSON writes the name as the library reads it.
func (n KeyProviderName) MarshalJSON() ([]byte, error) {
	return marshal(map[string]string{"provider": string(n)})
}

// A KeyProvider gives the key of the data in a directory: a []byte of 32 bytes, or a [Passphrase]. It must not use the library.
type KeyProvider func(directory string) (Key, error)

// SetKeyProvider sets the function that gives keys to clients whose EncryptionKey is the [KeyProviderName] of that name. It is
// called when the first file is opened. If it is nil, the name is removed; clients that are open keep their keys.
func SetKeyProvider(name string, provider KeyProvider) error {
	text, err := terminated(name, "the name")
	if err != nil {
		return err
	}
	var left *C.kv_error
	if provider == nil {
		return check(C.kvgo_set_key_provider(characters(text), nil, &left), left)
	}
	// The library releases the number through kvgoFree, also when it returns an error.
	return check(C.kvgo_set_key_provider(characters(text), remember(&keyHost{provider}), &left), left)
}

type keyHost struct{ provider KeyProvider }

//export kvgoKey
func kvgoKey(context unsafe.Pointer, directory *C.char, key *C.uchar, capacity C.size_t, length *C.size_t) C.int32_t {
	host, ok := recall(context).(*keyHost)
	if !ok {
		return C.KV_KEY_NONE
	}
	given, err := host.provider(C.GoString(directory))
	if err != nil {
		return C.KV_KEY_NONE
	}
	var secret []byte
	kind := C.int32_t(C.KV_KEY_BYTES)
	switch key := given.(type) {
	case []byte:
		secret = key
	case Passphrase:
		secret, kind = []byte(key), C.KV_KEY_PASSPHRASE
	}
	if len(secret) == 0 || len(secret) > int(capacity) {
		return C.KV_KEY_NONE
	}
	copy(unsafe.Slice((*byte)(key), len(secret)), secret)
	*length = C.size_t(len(secret))
	return kind
}

// ChangeKey changes, adds or removes a key that opens the local data, and returns the names of all keys. The data stays as it
// is, so this takes no longer for more of it. The key that the data was made with is "main"; up to 8 keys open it. If key is
// nil, the key of that name is removed, which the last one cannot be.
func (c *Client) ChangeKey(name string, key Key) ([]string, error) {
	given, err := terminated(name, "the name")
	if err != nil {
		return nil, err
	}
	text, length, err := keyText(key)
	if err != nil {
		return nil, err
	}
	var report *C.char
	var size C.size_t
	var left *C.kv_error
	status := C.kv_client_change_key(c.handle, characters(given), text, length, &report, &size, &left)
	runtime.KeepAlive(c)
	names, err := decode[struct {
		Keys []string `json:"keys"`
	}](taken(report, size), check(status, left))
	return names.Keys, err
}

// An EncryptReport says what [Encrypt] has written.
type EncryptReport struct {
	// Files is the number of files that were written anew.
	Files int `json:"files"`
	// Bytes is their size.
	Bytes int64 `json:"bytes"`
}

// Encrypt encrypts local data that is not encrypted, encrypts it anew, or decrypts it if key is nil. The options are those of a
// client for the data as it is. While another client has the data open, the error is [ErrBusy]. A call that was interrupted can be repeated.
func Encrypt(options Options, key Key) (EncryptReport, error) {
	given, err := marshal(options)
	if err != nil {
		return EncryptReport{}, err
	}
	text, length, err := keyText(key)
	if err != nil {
		return EncryptReport{}, err
	}
	var report *C.char
	var size C.size_t
	var left *C.kv_error
	status := C.kv_encrypt(characters(given), C.size_t(len(given)), text, length, &report, &size, &left)
	return decode[EncryptReport](taken(report, size), check(status, left))
}

// keyText returns a key as JSON; NULL for nil.
func keyText(key Key) (*C.char, C.size_t, error) {
	if key == nil {
		return nil, 0, nil
	}
	text, err := marshal(key)
	if err != nil {
		return nil, 0, err
	}
	return characters(text), C.size_t(len(text)), nil
}
