package kvstore

// #include <kvstore.h>
import "C"

import "context"

// Sharing has the ids of users and of groups of users that an entity is shared with. Writers may read as well.
type Sharing struct {
	Readers, Writers           []string
	ReaderGroups, WriterGroups []string
	// EverybodyReads and EverybodyWrites grant the right to all users.
	EverybodyReads, EverybodyWrites bool
}

// Share grants users and groups the right to read or write an entity, in addition to the rights that exist. It fails
// with ErrNotFound if there is no entity with this id. The write is conditional, so that other changes of the access
// list at the same time are kept. In most collections, everybody may read an entity whose access list does not say
// otherwise: see docs/sharing.md.
func (c *Collection[T]) Share(ctx context.Context, id string, with Sharing, options ...Option) error {
	return c.store.share(ctx, id, with, options, func(a sharing) C.kv_status {
		return C.kv_store_share_async(c.store.handle, a.id, a.acl, a.length, a.text, a.done, a.context, a.free, a.q, a.e)
	})
}

// Unshare revokes rights that Share granted. EverybodyReads makes an entity private. A user may have the same right in
// several ways, by name and through groups; each of them has to be revoked.
func (c *Collection[T]) Unshare(ctx context.Context, id string, from Sharing, options ...Option) error {
	return c.store.share(ctx, id, from, options, func(a sharing) C.kv_status {
		return C.kv_store_unshare_async(c.store.handle, a.id, a.acl, a.length, a.text, a.done, a.context, a.free, a.q, a.e)
	})
}

// sharing is the argument of both C functions.
type sharing struct {
	completion
	id, acl, text *C.char
	length        C.size_t
	q             **C.kv_request
	e             **C.kv_error
}

func (s *store) share(
	ctx context.Context, id string, who Sharing, options []Option, begin func(sharing) C.kv_status,
) error {
	key, err := terminated(id, "id")
	if err != nil {
		return err
	}
	acl, err := marshal(who.acl())
	if err != nil {
		return err
	}
	c, err := s.prepare(ctx, nil, options)
	if err != nil {
		return err
	}
	defer s.done(c)
	_, err = run(ctx, c.options, func(r completion, q **C.kv_request, e **C.kv_error) C.kv_status {
		return begin(sharing{r, characters(key), characters(acl), c.text, C.size_t(len(acl)), q, e})
	})
	return err
}

// acl returns the rights in the form of an access list.
func (s Sharing) acl() M {
	ids := func(some []string) []string { return append([]string{}, some...) }
	acl := M{
		"r": ids(s.Readers), "w": ids(s.Writers),
		"groups": M{"r": ids(s.ReaderGroups), "w": ids(s.WriterGroups)},
	}
	if s.EverybodyReads {
		acl["gr"] = true
	}
	if s.EverybodyWrites {
		acl["gw"] = true
	}
	return acl
}
