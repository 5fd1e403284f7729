package kvstore

import (
	"encoding/json"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go/internal/wire"
)

// A StoreType says where a collection is read and written.
type StoreType string

// The types of stores.
const (
	// Sync reads and writes locally; Pull and Push go to the network.
	Sync StoreType = "sync"
	// Auto goes to the network and falls back to local data.
	Auto StoreType = "auto"
	// Cache answers locally, then from the network; see [OnLocalAnswer].
	Cache StoreType = "cache"
	// Network keeps no local data.
	Network StoreType = "network"
)

// A ReadPolicy says where one call reads.
type ReadPolicy string

// The read policies.
const (
	ReadLocal                 ReadPolicy = "forceLocal"
	ReadNetwork               ReadPolicy = "forceNetwork"
	ReadBoth                  ReadPolicy = "both"
	ReadNetworkOtherwiseLocal ReadPolicy = "networkOtherwiseLocal"
)

// A WritePolicy says where one call writes.
type WritePolicy string

// The write policies.
const (
	WriteLocal                  WritePolicy = "forceLocal"
	WriteSilentLocalThenNetwork WritePolicy = "silentLocalThenNetwork"
	WriteLocalThenNetwork       WritePolicy = "localThenNetwork"
	WriteNetwork                WritePolicy = "forceNetwork"
)

// Durability says what an acknowledged write survives.
type Durability string

// The durabilities.
const (
	// DurabilityFull survives a loss of power; it is the default.
	DurabilityFull Durability = "full"
	// DurabilityNormal survives the end of the process.
	DurabilityNormal Durability = "normal"
)

// Options are what a client is opened with. AppKey is required, and Host (or InstanceID) and AppSecret unless
// LocalOnly is set. A zero value means the default.
type Options struct {
	AppKey    string `json:"appKey"`
	AppSecret string `json:"appSecret,omitempty"`
	// Host is the backend's address. It has no default, so that nobody who forgets it sends credentials to a third party.
	Host string `json:"host,omitempty"`
	// Backend is the name of a backend of the program's own, in place of a host: see [RegisterBackend].
	Backend string `json:"backend,omitempty"`
	// Schema is a GraphQL schema whose models are the collections of a local database.
	Schema string `json:"schema,omitempty"`
	// LocalOnly makes a database of it that never goes to a network.
	LocalOnly  bool   `json:"-"`
	InstanceID string `json:"instanceId,omitempty"`
	// DataDirectory is where the local data lives; default: "$XDG_DATA_HOME/kvstore" or
	// "~/.local/share/kvstore".
	DataDirectory           string         `json:"dataDirectory,omitempty"`
	Tag                     string         `json:"tag,omitempty"`
	ClientAppVersion        string         `json:"clientAppVersion,omitempty"`
	CustomRequestProperties map[string]any `json:"-"`
	// Timeout is for a whole call; default: 60 s.
	Timeout    time.Duration `json:"-"`
	Durability Durability    `json:"durability,omitempty"`
	// CAFile has the certificates to trust, as PEM; default: the system's.
	CAFile string `json:"caFile,omitempty"`
	// CAFallback has those to trust where the system has none.
	CAFallback       string `json:"caFallback,omitempty"`
	Proxy            string `json:"proxy,omitempty"`
	MaxResponseBytes int64  `json:"maxResponseBytes,omitempty"`
	// MaxGroupBytes bounds the groups that the backend makes for Store.Group.
	MaxGroupBytes int64 `json:"maxGroupBytes,omitempty"`
	// OriginalForms sends queries made from formats as the original SDK does, also where that is broken.
	OriginalForms bool   `json:"originalForms,omitempty"`
	Connections   int    `json:"connections,omitempty"`
	APIVersion    int    `json:"apiVersion,omitempty"`
	MasterSecret  string `json:"masterSecret,omitempty"`
	// Retries is how often a request that failed is sent again where that is safe; default: 3, below 0: never.
	Retries int `json:"-"`
	// SharedDevice: all users of the device have one set of local data; pending writes stay their user's.
	SharedDevice bool `json:"sharedDevice,omitempty"`
	// PushAutomatically pushes what waits without being asked for: after a save, when the network is back,
	// after a login.
	PushAutomatically bool `json:"pushAutomatically,omitempty"`
	// Live false keeps follows from using live data before the application registers for it; default: true.
	Live *bool `json:"live,omitempty"`
	// AuthHost is the authorization server; default: that of the hosted service, else the host.
	AuthHost string `json:"authHost,omitempty"`
}

// MarshalJSON writes the options as the library reads them.
func (o Options) MarshalJSON() ([]byte, error) {
	type plain Options
	written := struct {
		plain
		// These say more than their zero values.
		LocalHost  json.RawMessage `json:"host,omitempty"`
		Timeout    float64         `json:"timeout,omitempty"`
		Retries    *int            `json:"retries,omitempty"`
		Properties *map[string]any `json:"customRequestProperties,omitempty"`
	}{plain: plain(o), Timeout: o.Timeout.Seconds()}
	if o.LocalOnly {
		written.LocalHost = json.RawMessage("null")
	} else if o.Host != "" {
		host, err := json.Marshal(o.Host)
		if err != nil {
			return nil, err
		}
		written.LocalHost = host
	}
	if o.Retries != 0 {
		written.Retries = new(int)
		if o.Retries > 0 {
			*written.Retries = o.Retries
		}
	}
	if o.CustomRequestProperties != nil {
		written.Properties = &o.CustomRequestProperties
	}
	return wire.Marshal(written)
}

// put adds a member unless it is zero.
func put[V comparable](members map[string]any, name string, value V) {
	var zero V
	if value != zero {
		members[name] = value
	}
}

// An Option says something about one call, or about all calls of a collection. The library refuses
// options that a call does not know.
type Option func(*callOptions)

type callOptions struct {
	members       map[string]any
	onLocalAnswer func(json.RawMessage, error)
	onProgress    func(Progress)
}

func with(name string, value any) Option {
	return func(options *callOptions) {
		if options.members == nil {
			options.members = map[string]any{}
		}
		options.members[name] = value
	}
}

// WithAutoPagination makes a pull read page by page, pageSize entities at a time (0: 10,000): a backend
// answers 10,000 at the most, and silently.
func WithAutoPagination(pageSize int) Option {
	return func(options *callOptions) {
		with("autoPagination", true)(options)
		if pageSize != 0 {
			with("maxSizePerResultSet", pageSize)(options)
		}
	}
}

// A ConflictStrategy says what happens when an entity was changed here and on the backend.
type ConflictStrategy string

// Ours wins (the default), theirs wins, each side's own changes are taken, conflicts are left open in
// the queue, or a function decides: see [Collection.SetConflictHandler].
const (
	ClientWins ConflictStrategy = "clientWins"
	ServerWins ConflictStrategy = "serverWins"
	Merge      ConflictStrategy = "merge"
	Optimistic ConflictStrategy = "optimistic"
	AskHandler ConflictStrategy = "handler"
)

// WithQuarantined makes a push, or the push of a sync, send quarantined writes as well.
func WithQuarantined() Option { return with("retryQuarantined", true) }

// WithClientID says who asks the authorization server: the app key, perhaps with a service's id behind a
// dot; only for [Client.LoginPage] and [Client.LoginWithCode].
func WithClientID(id string) Option { return with("clientId", id) }

// WithState comes back in the query of the redirect URI; only for [Client.LoginPage].
func WithState(state string) Option { return with("state", state) }

// WithTag opens the collection in an isolated store; only for [OpenCollection].
func WithTag(tag string) Option { return with("tag", tag) }

// WithValidation says what every entity that the backend sends must be like, as a filter; only for
// [OpenCollection].
func WithValidation(filter any) Option { return with("validation", filter) }

// WithKeyMap says what queries call the members of entities, such as {"title": "t"}; only for
// [OpenCollection].
func WithKeyMap(names map[string]string) Option { return with("keyMap", names) }

// WithKnownMembers says which members the entities of the program have, as an object of their names to
// true or to such an object. Saves keep the others of what is stored: they may be those of a newer
// program. nil: all are known, and a save replaces the whole entity.
//
// For a struct the default are its fields by the rules of encoding/json, those of structs in it included;
// slices, maps and types that write their own JSON are known as a whole. For others it is nil.
func WithKnownMembers(names M) Option {
	return func(options *callOptions) {
		if names == nil {
			delete(options.members, "knownMembers")
			return
		}
		with("knownMembers", names)(options)
	}
}

// IfMissing makes a save an insert: it fails with ErrConflict if there is an entity of the "_id".
//
// Like [IfVersion] and [IfMatches] it is for saves and removals by id, in transactions too. The check and
// the write are one, and nothing is changed if the condition does not hold. A write that waits for the
// backend stays conditional: what it started from must be there, or it is quarantined as a conflict. Of
// several conditions the last one counts.
func IfMissing() Option { return with("if", nil) }

// IfVersion lets a save or a removal happen only if the entity is of this local version, which
// [Collection.Version] gives; else it fails with ErrConflict.
func IfVersion(version int64) Option { return with("if", version) }

// IfMatches lets a save or a removal happen only if the stored entity is there and matches a filter;
// else it fails with ErrConflict.
func IfMatches(filter M) Option { return with("if", filter) }

// KeepData keeps entities and pending writes at a logout, for this user.
func KeepData() Option { return with("keepData", true) }

// DiscardPending lets a logout wipe unsent work.
func DiscardPending() Option { return with("discardPending", true) }

// Hard deletes a user for good instead of disabling it.
func Hard() Option { return with("hard", true) }

// OnLocalAnswer gets the first, local answer of a call that answers twice, as JSON; the call itself
// returns the answer of the network. It runs on the client's callback thread.
func OnLocalAnswer(answer func(json.RawMessage, error)) Option {
	return func(options *callOptions) { options.onLocalAnswer = answer }
}

// OnProgress gets how far a call is, some times a second while it waits for the network, and once at its
// end. It runs in a goroutine of its own, one call after the other, and none after the operation returned.
func OnProgress(progress func(Progress)) Option {
	return func(options *callOptions) { options.onProgress = progress }
}

func gather(options []Option) callOptions {
	var gathered callOptions
	for _, option := range options {
		option(&gathered)
	}
	return gathered
}

// text gives the options as C reads them; nil if there are none.
func (o callOptions) text() ([]byte, error) {
	if o.members == nil {
		return nil, nil
	}
	text, err := marshal(o.members)
	if err != nil {
		return nil, err
	}
	return append(text, 0), nil
}
