package kvstore

// #include <kvstore.h>
import "C"

import "context"

// Sharing names whom an entity is shared with: ids of users and of groups of users. Writers may read as well.
type Sharing struct {
	Readers, Writers           []string
	ReaderGroups, WriterGroups []string
	// EverybodyReads and EverybodyWrites are for all users.
	EverybodyReads, EverybodyWrites bool
}

// Share lets others read or write an entity, in addition to those who may; ErrNotFound if there is none of this id. What
// others change in its access list meanwhile is not lost: the write is a conditional one. Most collections let everybody
// read what does not say otherwise: see docs/sharing.md.
func (c *Collection[T]) Share(ctx context.Context, id string, with Sharing, options ...Option) error {
	return c.store.share(ctx, id, with, options, func(a sharing) C.kv_status {
		return C.kv_store_share_async(c.store.handle, a.id, a.acl, a.length, a.text, a.done, a.context, a.free, a.q, a.e)
	})
}

// Unshare takes back what Share gave; EverybodyReads makes an entity private. Somebody who is named more than once, or is
// in a group, is to be taken out of each.
func (c *Collection[T]) Unshare(ctx context.Context, id string, from Sharing, options ...Option) error {
	return c.store.share(ctx, id, from, options, func(a sharing) C.kv_status {
		return C.kv_store_unshare_async(c.store.handle, a.id, a.acl, a.length, a.text, a.done, a.context, a.free, a.q, a.e)
	})
}

// sharing is what both calls are given.
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

// acl gives it as an access list writes it.
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
