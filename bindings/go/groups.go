package kvstore

// #include <kvstore.h>
import "C"

import (
	"context"
	"encoding/json"
)

// A UserGroup is a group of users, which the access list of an entity can name. It belongs to the user who created it.
// Other users may see or change it only if its own access list allows that.
type UserGroup struct {
	// ID is the id of the group, which access lists use.
	ID   string `json:"_id"`
	Name string `json:"name"`
	// Members are the ids of the users in the group.
	Members []string `json:"members"`
	// JSON is everything that the backend reports about the group.
	JSON json.RawMessage `json:"-"`
}

// A UserGroupChange describes a change of a group. Members that it does not name stay as they are.
type UserGroupChange struct {
	// Add and Remove are ids of users. An id in both is removed.
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
	// Set replaces members of its JSON, such as "name" and "_acl".
	Set M `json:"set,omitempty"`
}

// Groups are the groups of users on a client's backend. They are not kept locally.
type Groups struct{ client *Client }

// Groups returns the groups of users, without a network call.
func (c *Client) Groups() *Groups { return &Groups{c} }

// Create creates a group of users, given by their ids. The request is sent only once: after [ErrNetwork] the group may
// exist or not.
func (g *Groups) Create(ctx context.Context, name string, members []string, options ...Option) (UserGroup, error) {
	text, err := marshal(M{"name": name, "members": append([]string{}, members...)})
	if err != nil {
		return UserGroup{}, err
	}
	return groupFrom(g.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_group_create_async(g.client.handle, characters(text), C.size_t(len(text)), o,
			r.done, r.context, r.free, q, e)
	}))
}

// Get reads one group.
func (g *Groups) Get(ctx context.Context, id string, options ...Option) (UserGroup, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return UserGroup{}, err
	}
	return groupFrom(g.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_group_read_async(g.client.handle, characters(key), o, r.done, r.context, r.free, q, e)
	}))
}

// All lists the groups that the active user may read.
func (g *Groups) All(ctx context.Context, options ...Option) ([]UserGroup, error) {
	texts, err := decode[[]json.RawMessage](g.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_group_list_async(g.client.handle, o, r.done, r.context, r.free, q, e)
	}))
	if err != nil {
		return nil, err
	}
	return each(texts, func(text []byte) (UserGroup, error) { return groupFrom(text, nil) })
}

// Update changes a group. If another client changes the group at the same time, the change applies to the newer version.
func (g *Groups) Update(ctx context.Context, id string, change UserGroupChange, options ...Option) (UserGroup, error) {
	key, err := terminated(id, "id")
	if err != nil {
		return UserGroup{}, err
	}
	text, err := marshal(change)
	if err != nil {
		return UserGroup{}, err
	}
	return groupFrom(g.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_group_update_async(g.client.handle, characters(key), characters(text), C.size_t(len(text)), o,
			r.done, r.context, r.free, q, e)
	}))
}

// Delete deletes a group. Its members lose the rights that they had only through the group.
func (g *Groups) Delete(ctx context.Context, id string, options ...Option) error {
	key, err := terminated(id, "id")
	if err != nil {
		return err
	}
	_, err = g.client.run(ctx, options, func(o *C.char, r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return C.kv_group_delete_async(g.client.handle, characters(key), o, r.done, r.context, r.free, q, e)
	})
	return err
}

func groupFrom(text []byte, err error) (UserGroup, error) {
	group, err := decode[UserGroup](text, err)
	group.JSON = text
	return group, err
}
