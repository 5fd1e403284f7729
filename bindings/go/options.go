package kvstore

import (
	"encoding/json"
	"time"

	"github.com/libkvstore/libkvstore/bindings/go/internal/wire"
)

// A StoreType says where a collection reads and writes.
type StoreType string

// The types of stores.
const (
	// Sync reads and writes locally. Pull and Push use the network.
	Sync StoreType = "sync"
	// Synced reads and writes locally, and is kept in step with the backend in the background: see [Client.StartSync].
	Synced StoreType = "synced"
	// Auto uses the network and falls back to local data.
	Auto StoreType = "auto"
	// Cache answers locally and then from the network; see [OnLocalAnswer].
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

// Durability says which failures an acknowledged write survives.
type Durability string

// The durabilities.
const (
	// DurabilityFull survives a loss of power; it is the default.
	DurabilityFull Durability = "full"
	// DurabilityNormal survives a crash of the process.
	DurabilityNormal Durability = "normal"
)

// Options are the options of a client. AppKey is required. So are Host (or InstanceID) and AppSecret, unless LocalOnly
// is set. A zero value means the default.
type Options struct {
	AppKey    string `json:"appKey"`
	AppSecret string `json:"appSecret,omitempty"`
	// Host is the address of the backend. It has no default, so that a program without it sends no credentials to a third
	// party.
	Host string `json:"host,omitempty"`
	// Backend is "appsync", or the name of a backend that the program registered with [RegisterBackend]. It takes the
	// place of Host.
	Backend string `json:"backend,omitempty"`
	// Store says where the data is: "local", or the name of a store that the program registered with [RegisterStore], or of a
	// backend. It takes the place of Backend and Host.
	Store string `json:"store,omitempty"`
	// StoreOptions are options that only the store understands.
	StoreOptions any `json:"storeOptions,omitempty"`
	// Schema is a GraphQL schema. Its models are the collections of a local database, or of the backend "appsync".
	Schema string `json:"schema,omitempty"`
	// OnSchemaChange is "migrate", "resync", or the rules of a migration: what happens to local data of another schema that does
	// not fit as it is.
	OnSchemaChange any `json:"onSchemaChange,omitempty"`
	// Migrate is asked for each record of each model that the new schema has changed. It returns the whole record of the new
	// model, nil for the record as the rules of OnSchemaChange change it, or an error, after which nothing has changed. It
	// runs in a goroutine that waits for it while the local data is locked, so it cannot open or write any.
	Migrate func(MigratingRecord) (any, error) `json:"-"`
	// Endpoint is the address of the API of the backend "appsync".
	Endpoint string `json:"endpoint,omitempty"`
	// RealtimeEndpoint is the address of the WebSocket of the backend "appsync"; empty: it follows from Endpoint.
	RealtimeEndpoint string `json:"realtimeEndpoint,omitempty"`
	// RealtimeUpgrade says where the request for the WebSocket has what it is allowed by: "subprotocol", which is the default,
	// "headers" or "query".
	RealtimeUpgrade string `json:"realtimeUpgrade,omitempty"`
	// Configuration is the content of an amplifyconfiguration.json, in place of Endpoint and Auth.
	Configuration json.RawMessage `json:"configuration,omitempty"`
	// Auth is what the requests of the backend "appsync" are allowed by.
	Auth *APIAuth `json:"auth,omitempty"`
	// DefaultAuth is the mode of the models without rules, if Auth has several: the name of its member, such as "userPools".
	DefaultAuth string `json:"defaultAuth,omitempty"`
	// PageSize is how many records a page of the backend "appsync" is asked for. The default is 100.
	PageSize int `json:"pageSize,omitempty"`
	// SyncInterval is how old a read may be for the backend "appsync" to be asked for what has changed since. The default
	// is a day.
	SyncInterval time.Duration `json:"-"`
	// Sync says how stores of the type [Synced] are kept in step with the backend.
	Sync *SyncOptions `json:"sync,omitempty"`
	// LocalOnly makes the client a local database that never uses the network.
	LocalOnly  bool   `json:"-"`
	InstanceID string `json:"instanceId,omitempty"`
	// DataDirectory is the directory of the local data. The default is "$XDG_DATA_HOME/kvstore" or
	// "~/.local/share/kvstore".
	DataDirectory string `json:"dataDirectory,omitempty"`
	// AllowNetworkFileSystem opens local data on a network file system, for data that one machine alone uses.
	AllowNetworkFileSystem  bool           `json:"allowNetworkFileSystem,omitempty"`
	Tag                     string         `json:"tag,omitempty"`
	ClientAppVersion        string         `json:"clientAppVersion,omitempty"`
	CustomRequestProperties map[string]any `json:"-"`
	// Timeout is the time limit of a whole call. The default is 60 s.
	Timeout    time.Duration `json:"-"`
	Durability Durability    `json:"durability,omitempty"`
	// CAFile is a PEM file with the certificates to trust. The default is the certificates of the system.
	CAFile string `json:"caFile,omitempty"`
	// CAFallback is used in place of the system's certificates where the system has none.
	CAFallback       string `json:"caFallback,omitempty"`
	Proxy            string `json:"proxy,omitempty"`
	MaxResponseBytes int64  `json:"maxResponseBytes,omitempty"`
	// MaxGroupBytes limits the answer of a [Group] that the backend computes.
	MaxGroupBytes int64 `json:"maxGroupBytes,omitempty"`
	// OriginalForms sends queries made from formats exactly as Kinvey's SDK does, even where that is wrong.
	OriginalForms bool   `json:"originalForms,omitempty"`
	Connections   int    `json:"connections,omitempty"`
	APIVersion    int    `json:"apiVersion,omitempty"`
	MasterSecret  string `json:"masterSecret,omitempty"`
	// DeviceName is what users see of this device among their sessions on kvstored.
	DeviceName string `json:"deviceName,omitempty"`
	// Retries is the number of times that a failed request is sent again, where that is safe. The default is 3; below 0:
	// never.
	Retries int `json:"-"`
	// EncryptionKey is what the local data is encrypted with: 32 bytes as a []byte, a [Passphrase], or the [KeyProviderName] of a
	// function that was given to [SetKeyProvider]. Without it the data is not encrypted.
	EncryptionKey Key `json:"encryptionKey,omitempty"`
	// SharedDevice makes all users of the device share one set of local data. Pending writes still belong to their user.
	SharedDevice bool `json:"sharedDevice,omitempty"`
	// PushAutomatically pushes pending writes by itself: after a save, when the network returns, and after a login.
	PushAutomatically bool `json:"pushAutomatically,omitempty"`
	// OnBackendReset says what happens to data that the backend has confirmed and has no more, because an older copy of its
	// data was put back. The default is [KeepLost].
	OnBackendReset BackendReset `json:"onBackendReset,omitempty"`
	// Live, if false, forbids follows to use live data before the application has registered for it. The default is true.
	Live *bool `json:"live,omitempty"`
	// AutoIndex, if false, makes no index of local data without being asked for. The default is true.
	AutoIndex *bool `json:"autoIndex,omitempty"`
	// AuthHost is the address of the authorization server. The default is the one of Kinvey's hosted service, or else
	// Host.
	AuthHost string `json:"authHost,omitempty"`
}

// A BackendReset says what happens to data that the backend has confirmed and has no more, because an older copy of its data was
// put back.
type BackendReset string

const (
	// KeepLost leaves it on the device, quarantined in the state [BackendWentBack], until the program decides.
	KeepLost BackendReset = "keep"
	// ResendLost sends it again, on the condition that the backend still has what it went back to.
	ResendLost BackendReset = "resend"
	// AcceptReset replaces it by what the backend has.
	AcceptReset BackendReset = "accept"
)

// APIAuth is what requests to an API are allowed by. If several of its fields are set, DefaultAuth of the options has to say which
// is the usual one, and the rules of the models (@auth) decide. A pointer to an empty token stands for the one that the token
// provider will give: see [Client.SetTokenProvider].
type APIAuth struct {
	APIKey string `json:"apiKey,omitempty"`
	// Token is that of a Cognito user pool, an OpenID provider or a Lambda authorizer.
	Token string `json:"token,omitempty"`
	// UserPools is the token of a Cognito user pool, OIDC that of an OpenID provider, Function that for a Lambda authorizer.
	UserPools *string `json:"userPools,omitempty"`
	OIDC      *string `json:"oidc,omitempty"`
	Function  *string `json:"function,omitempty"`
	// IAM has the credentials by which requests are signed.
	IAM *IAMCredentials `json:"iam,omitempty"`
}

// IAMCredentials are those of AWS by which requests are signed. SessionToken is that of temporary ones.
type IAMCredentials struct {
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
	SessionToken    string `json:"sessionToken,omitempty"`
	Region          string `json:"region"`
}

// MarshalJSON writes the options in the form that the library reads.
func (o Options) MarshalJSON() ([]byte, error) {
	type plain Options
	written := struct {
		plain
		// These members need more than their zero values.
		LocalHost  json.RawMessage `json:"host,omitempty"`
		Timeout    float64         `json:"timeout,omitempty"`
		Interval   float64         `json:"syncInterval,omitempty"`
		Retries    *int            `json:"retries,omitempty"`
		Properties *map[string]any `json:"customRequestProperties,omitempty"`
	}{plain: plain(o), Timeout: o.Timeout.Seconds(), Interval: o.SyncInterval.Seconds()}
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

// put adds a member unless it has the zero value.
func put[V comparable](members map[string]any, name string, value V) {
	var zero V
	if value != zero {
		members[name] = value
	}
}

// An Option applies to one call, or to all calls of a collection. The library refuses options that a call does not
// know.
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

// WithAutoPagination makes a pull read page by page, with pageSize entities in a page (0: 10,000). Without it, a pull
// gets at most 10,000 entities from Kinvey's service, without an error.
func WithAutoPagination(pageSize int) Option {
	return func(options *callOptions) {
		with("autoPagination", true)(options)
		if pageSize != 0 {
			with("maxSizePerResultSet", pageSize)(options)
		}
	}
}

// A ConflictStrategy says how a conflict is resolved.
type ConflictStrategy string

// The strategies: the local version wins (the default), the backend's version wins, the changes of both are merged, the
// same without leaving anything open (the default with AppSync), the conflict is left open in the queue, or a function decides: see [Collection.SetConflictHandler].
const (
	ClientWins ConflictStrategy = "clientWins"
	ServerWins ConflictStrategy = "serverWins"
	Merge      ConflictStrategy = "merge"
	Automerge  ConflictStrategy = "automerge"
	Optimistic ConflictStrategy = "optimistic"
	AskHandler ConflictStrategy = "handler"
)

// WithQuarantined makes a push, or the push of a sync, send quarantined writes as well.
func WithQuarantined() Option { return with("retryQuarantined", true) }

// WithClientID sets the client id for the authorization server: the app key, optionally followed by a dot and the id of
// a service. It is only for [Client.LoginPage] and [Client.LoginWithCode].
func WithClientID(id string) Option { return with("clientId", id) }

// WithState adds a value to the query of the redirect URI. It is only for [Client.LoginPage].
func WithState(state string) Option { return with("state", state) }

// WithTag opens the collection in the store of a tag, which is kept apart. It is only for [OpenCollection].
func WithTag(tag string) Option { return with("tag", tag) }

// WithValidation sets a filter that every entity from the backend must match. It is only for [OpenCollection].
func WithValidation(filter any) Option { return with("validation", filter) }

// WithKeyMap sets the names that queries use for members of entities, such as {"title": "t"}. It is only for
// [OpenCollection].
func WithKeyMap(names map[string]string) Option { return with("keyMap", names) }

// WithKnownMembers sets the members that the program knows: an object of their names, with true or a nested object of
// the same kind. A save keeps all other members of the stored entity, because a newer version of the program may have
// written them. nil means that all members are known, and a save replaces the whole entity.
//
// For a struct, the default is its fields by the rules of encoding/json, including nested structs. Slices, maps and
// types that write their own JSON are known as a whole. For other types the default is nil.
func WithKnownMembers(names M) Option {
	return func(options *callOptions) {
		if names == nil {
			delete(options.members, "knownMembers")
			return
		}
		with("knownMembers", names)(options)
	}
}

// IfMissing makes a save an insert: it fails with ErrConflict if an entity with the "_id" exists.
//
// Like [IfVersion] and [IfMatches], it is for saves and for removals by id, in transactions too. The check and the
// write are one atomic step, and nothing changes if the condition does not hold. A pending write keeps its condition:
// if the backend has another version than the one the write started from, the write is quarantined as a conflict. If
// several conditions are given, the last one applies.
func IfMissing() Option { return with("if", nil) }

// IfVersion makes a save or a removal conditional on the local version of the entity, as [Collection.Version] returns
// it. With another version, the call fails with ErrConflict.
func IfVersion(version int64) Option { return with("if", version) }

// IfMatches makes a save or a removal conditional on a filter: an [M], or a [*Query], of which only the filter counts. If
// the stored entity does not exist or does not match, the call fails with ErrConflict.
func IfMatches(filter any) Option {
	if query, ok := filter.(*Query); ok {
		return with("if", condition{query})
	}
	return with("if", filter)
}

// A condition is the filter of a query.
type condition struct{ query *Query }

// MarshalJSON writes the filter in the form that the library reads.
func (c condition) MarshalJSON() ([]byte, error) {
	printed, err := c.query.printed()
	if err != nil {
		return nil, err
	}
	return json.Marshal(printed.Filter)
}

// Adopt makes the local data and the pending writes of another user, whose account is gone, those of the user who logs in or
// signs up. Without it the data is deleted, and pending writes fail with [ErrPending].
func Adopt() Option { return with("adopt", true) }

// KeepData makes a logout keep the entities and the pending writes for this user.
func KeepData() Option { return with("keepData", true) }

// DiscardPending allows a logout to delete pending writes.
func DiscardPending() Option { return with("discardPending", true) }

// Hard makes DeleteUser delete the user for good instead of disabling it.
func Hard() Option { return with("hard", true) }

// OnLocalAnswer receives the first, local answer, as JSON, of a call that answers twice. The call itself returns the
// network's answer. The function runs on the client's callback thread.
func OnLocalAnswer(answer func(json.RawMessage, error)) Option {
	return func(options *callOptions) { options.onLocalAnswer = answer }
}

// OnProgress receives the progress of a call: some times a second while it waits for the network, and once at its end.
// The calls come one after the other in a goroutine of their own, and none comes after the operation has returned.
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

// text returns the options in the form that C reads, or nil if there are none.
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
