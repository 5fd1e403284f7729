package kvstore

// #include <stdint.h>
// #include <stdlib.h>
// #include <kvstore.h>
//
// void kvgoLog(void *context, int32_t level, char *text);
// void kvgoFree(void *context);
//
// static inline kv_log_fn kvgo_log_fn(void) { return (kv_log_fn)kvgoLog; }
// static inline kv_free_fn kvgo_log_free_fn(void) { return kvgoFree; }
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"unsafe"
)

// A Client is one application on one backend with one data directory.
type Client struct {
	handle *C.kv_client
	// over is closed after the last callback.
	over    chan struct{}
	closing sync.Once
	closed  error
}

// Open opens a client. It makes no network call.
func Open(options Options) (*Client, error) {
	client := &Client{over: make(chan struct{})}
	err := options.named(func(options Options) error {
		text, err := marshal(options)
		if err != nil {
			return err
		}
		var left *C.kv_error
		return check(C.kv_client_open(characters(text), C.size_t(len(text)), &client.handle, &left), left)
	})
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(client, (*Client).Close)
	return client, nil
}

// Close closes the client, its collections and its iterators, and cancels its running calls with ErrCancelled. Pending
// writes are kept. A second call does nothing.
func (c *Client) Close() error {
	c.closing.Do(func() {
		runtime.SetFinalizer(c, nil)
		c.closed = check(C.kv_client_close(c.handle), nil)
		close(c.over)
	})
	return c.closed
}

// A LogLevel is the level of detail of the log.
type LogLevel int

// The levels of the log.
const (
	LogError LogLevel = iota + 1
	LogWarning
	LogInfo
	LogDebug
)

// SetLog sends the log up to a level to a function; nil switches the log off. The function runs on the client's
// callback thread. Tokens, secrets and bodies are never logged.
func (c *Client) SetLog(level LogLevel, log func(LogLevel, string)) error {
	var left *C.kv_error
	if log == nil {
		status := C.kv_client_set_log(c.handle, C.int32_t(level), nil, nil, nil, &left)
		runtime.KeepAlive(c)
		return check(status, left)
	}
	status := C.kv_client_set_log(c.handle, C.int32_t(level), C.kvgo_log_fn(),
		remember(logLine(log)), C.kvgo_log_free_fn(), &left)
	runtime.KeepAlive(c)
	return check(status, left)
}

// A User is a user of the backend.
type User struct {
	ID       string `json:"_id"`
	Username string `json:"username"`
	// JSON is everything that the backend reports about the user. It never has the session's token.
	JSON json.RawMessage `json:"-"`
}

// A Backend is the answer to a ping.
type Backend struct {
	Version         string `json:"version"`
	Kinvey          string `json:"kinvey"`
	AppName         string `json:"appName"`
	EnvironmentName string `json:"environmentName"`
	// Models are the models of the schema that fit, with AppSync only.
	Models []string `json:"models"`
}

// Ping asks the backend for its version, or an API of AppSync whether it has what the schema says.
func (c *Client) Ping(ctx context.Context, options ...Option) (Backend, error) {
	text, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_ping_async(c.handle, text, r.done, r.context, r.free, q, e)
	})
	if err != nil {
		return Backend{}, err
	}
	return unmarshal[Backend](text)
}

// Signup creates a user and logs it in. members holds "username", "password" and any further members; nil creates an
// implicit user. While writes of another user are pending, it fails with ErrPending and creates no user.
func (c *Client) Signup(ctx context.Context, members any, options ...Option) (User, error) {
	return c.user(ctx, members, options, func(body []byte, text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_signup_async(c.handle, characters(body), C.size_t(len(body)), text,
			r.done, r.context, r.free, q, e)
	})
}

// Login logs a user in, in place of the active one. Local data and pending writes of the same user are kept. For
// another user the local data is deleted first; while writes are pending, that fails with ErrPending.
func (c *Client) Login(ctx context.Context, username, password string, options ...Option) (User, error) {
	return c.login(ctx, M{"username": username, "password": password}, options)
}

// LoginWithIdentity logs a user in through an account at another provider, such as M{"google": M{…}}.
func (c *Client) LoginWithIdentity(ctx context.Context, identity any, options ...Option) (User, error) {
	return c.login(ctx, M{"_socialIdentity": identity}, options)
}

func (c *Client) login(ctx context.Context, credentials any, options []Option) (User, error) {
	return c.user(ctx, credentials, options, func(body []byte, text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_login_async(c.handle, characters(body), C.size_t(len(body)), text,
			r.done, r.context, r.free, q, e)
	})
}

// LoginPage returns the address of a login page, which the program opens in a browser. After the login, the browser
// goes to redirectURI with a code in its query, which LoginWithCode takes.
func (c *Client) LoginPage(redirectURI string, options ...Option) (string, error) {
	redirect, err := terminated(redirectURI, "redirect URI")
	if err != nil {
		return "", err
	}
	text, err := gather(options).text()
	if err != nil {
		return "", err
	}
	var page *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_user_login_page(c.handle, characters(redirect), characters(text), &page, &length, &left)
	runtime.KeepAlive(c)
	if err := check(status, left); err != nil {
		return "", err
	}
	return string(taken(page, length)), nil
}

// LoginWithCode logs in the user who used the LoginPage. Its session is renewed automatically.
func (c *Client) LoginWithCode(ctx context.Context, code, redirectURI string, options ...Option) (User, error) {
	secret, err := terminated(code, "code")
	if err != nil {
		return User{}, err
	}
	redirect, err := terminated(redirectURI, "redirect URI")
	if err != nil {
		return User{}, err
	}
	text, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_login_with_code_async(c.handle, characters(secret), characters(redirect), text,
			r.done, r.context, r.free, q, e)
	})
	if err != nil {
		return User{}, err
	}
	return userFrom(text)
}

// Logout logs the active user out and deletes the local data, unless [KeepData] is given. While writes are pending, it
// fails with ErrPending, unless [DiscardPending] is given.
func (c *Client) Logout(ctx context.Context, options ...Option) error {
	_, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_logout_async(c.handle, text, r.done, r.context, r.free, q, e)
	})
	return err
}

// ActiveUser returns the user as last read, without a network call. It fails with ErrNoUser if no user is logged in.
func (c *Client) ActiveUser() (User, error) {
	var text *C.char
	var length C.size_t
	var left *C.kv_error
	status := C.kv_user_active(c.handle, &text, &length, &left)
	runtime.KeepAlive(c)
	if err := check(status, left); err != nil {
		return User{}, err
	}
	return userFrom(taken(text, length))
}

// Me reads the active user from the backend.
func (c *Client) Me(ctx context.Context, options ...Option) (User, error) {
	text, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_me_async(c.handle, text, r.done, r.context, r.free, q, e)
	})
	if err != nil {
		return User{}, err
	}
	return userFrom(text)
}

// UpdateUser replaces members of the active user on the backend. "password" may be one of them.
func (c *Client) UpdateUser(ctx context.Context, members any, options ...Option) (User, error) {
	return c.user(ctx, members, options, func(body []byte, text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_update_async(c.handle, characters(body), C.size_t(len(body)), text,
			r.done, r.context, r.free, q, e)
	})
}

// DeleteUser disables the active user on the backend, or deletes it with [Hard]. Then it logs out, as Logout does.
func (c *Client) DeleteUser(ctx context.Context, options ...Option) error {
	_, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_delete_async(c.handle, text, r.done, r.context, r.free, q, e)
	})
	return err
}

// UserExists reports whether a user name is taken.
func (c *Client) UserExists(ctx context.Context, username string, options ...Option) (bool, error) {
	name, err := terminated(username, "username")
	if err != nil {
		return false, err
	}
	text, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_exists_async(c.handle, characters(name), text,
			r.done, r.context, r.free, q, e)
	})
	if err != nil {
		return false, err
	}
	exists := string(text)
	return exists == "1" || exists == "true", nil
}

// LookupUsers finds other users by members such as M{"username": "ana"}, all of which must match. At least one is
// required. The backend decides which members it searches and which it returns.
func (c *Client) LookupUsers(ctx context.Context, members M, options ...Option) ([]User, error) {
	wanted, err := marshal(members)
	if err != nil {
		return nil, err
	}
	texts, err := decode[[]json.RawMessage](c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_user_lookup_async(c.handle, characters(wanted), C.size_t(len(wanted)), text,
			r.done, r.context, r.free, q, e)
	}))
	if err != nil {
		return nil, err
	}
	return each(texts, userFrom)
}

// run runs an operation of the client. begin receives the options in the form that C reads.
func (c *Client) run(
	ctx context.Context, options []Option,
	begin func(*C.char, completion, **C.kv_request, **C.kv_error) C.kv_status,
) ([]byte, error) {
	defer runtime.KeepAlive(c)
	gathered := gather(options)
	text, err := gathered.text()
	if err != nil {
		return nil, err
	}
	return run(ctx, gathered, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return begin(characters(text), r, q, e)
	})
}

// user runs an operation that takes an object and returns a user.
func (c *Client) user(
	ctx context.Context, members any, options []Option,
	begin func([]byte, *C.char, completion, **C.kv_request, **C.kv_error) C.kv_status,
) (User, error) {
	var body []byte
	if members != nil {
		text, err := marshal(members)
		if err != nil {
			return User{}, err
		}
		body = text
	}
	text, err := c.run(ctx, options, func(text *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return begin(body, text, r, q, e)
	})
	if err != nil {
		return User{}, err
	}
	return userFrom(text)
}

func userFrom(text []byte) (User, error) {
	user, err := unmarshal[User](text)
	user.JSON = text
	return user, err
}

// Version returns the version of the loaded library, such as "0.1.0".
func Version() string { return C.GoString(C.kv_version()) }

// HasFeature reports whether the loaded library has a feature, such as "kinvey".
func HasFeature(name string) bool {
	text, err := terminated(name, "feature")
	return err == nil && C.kv_has_feature(characters(text)) != 0
}

// LiveObjects counts the open handles of this process, of a kind such as "cursor" or, for "", of all kinds. It is for
// leak tests.
func LiveObjects(kind string) int {
	if kind == "" {
		return int(C.kv_live_objects(nil))
	}
	text := C.CString(kind)
	defer C.free(unsafe.Pointer(text))
	return int(C.kv_live_objects(text))
}

// IsOffline reports whether an error means that the backend did not answer.
func IsOffline(err error) bool {
	return errors.Is(err, ErrNetwork) || errors.Is(err, ErrTimeout)
}
