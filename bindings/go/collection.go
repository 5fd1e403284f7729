package kvstore

import (
	"context"
	"reflect"

	"github.com/libkvstore/libkvstore/bindings/go/internal/wire"
)

// A Collection holds entities of type T: a struct, [M], or [json.RawMessage] for entities as JSON text. The "_id" of T
// is the id of the entity. If T has none, a save generates it.
//
// A save keeps the stored members that a struct does not have: see [WithKnownMembers].
//
// A nil query means all entities, except for [Collection.Remove].
type Collection[T any] struct {
	store *store
}

// OpenCollection opens a collection. Collections with the same name and tag share the local data.
func OpenCollection[T any](
	client *Client, name string, kind StoreType, options ...Option,
) (*Collection[T], error) {
	known := wire.Known(reflect.TypeOf((*T)(nil)).Elem())
	opened, err := openStore(client, name, kind, append([]Option{WithKnownMembers(known)}, options...))
	if err != nil {
		return nil, err
	}
	return &Collection[T]{opened}, nil
}

// Close closes the collection. Its running calls and iterators continue. A second call does nothing.
func (c *Collection[T]) Close() error { return c.store.close() }

// Find finds the entities that match. The iterator fetches them in pages.
func (c *Collection[T]) Find(
	ctx context.Context, query *Query, options ...Option,
) (*Iterator[T], error) {
	found, err := c.store.find(ctx, query, options)
	if err != nil {
		return nil, err
	}
	return newIterator[T](ctx, found), nil
}

// All finds the entities that match and returns them as a slice.
func (c *Collection[T]) All(ctx context.Context, query *Query, options ...Option) ([]T, error) {
	it, err := c.Find(ctx, query, options...)
	if err != nil {
		return nil, err
	}
	return it.All()
}

// Get finds one entity by its id. It fails with ErrNotFound if there is none.
func (c *Collection[T]) Get(ctx context.Context, id string, options ...Option) (T, error) {
	return decode[T](c.store.findByID(ctx, id, options))
}

// GetMany finds the entities of some ids. The slice has the order of the ids, and nil where there is no such entity. A local
// collection reads all of them in one snapshot.
func (c *Collection[T]) GetMany(ctx context.Context, ids []string, options ...Option) ([]*T, error) {
	if ids == nil {
		ids = []string{}
	}
	text, err := marshal(ids)
	if err != nil {
		return nil, err
	}
	return decode[[]*T](c.store.findByIDs(ctx, text, options))
}

// Related returns the query that selects what a relation of a record leads to, for the collection of the model that it leads
// to. The client has the models of a schema. A relation to many selects what belongs to the record when the query is used;
// the others select what the keys of the local records name now. It fails with ErrNotFound if such a record is not here.
func (c *Collection[T]) Related(id, relation string) (*Query, error) {
	return c.store.related(id, relation)
}

// Count counts the entities that match.
func (c *Collection[T]) Count(ctx context.Context, query *Query, options ...Option) (int, error) {
	return c.store.count(ctx, query, options)
}

// Save saves one entity and returns it as stored, with an "_id" if it had none.
func (c *Collection[T]) Save(ctx context.Context, entity T, options ...Option) (T, error) {
	text, err := marshal(entity)
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](c.store.save(ctx, text, options))
}

// Insert saves one entity. It fails with ErrConflict if an entity with its "_id" exists: see [IfMissing].
func (c *Collection[T]) Insert(ctx context.Context, entity T, options ...Option) (T, error) {
	return c.Save(ctx, entity, append(options[:len(options):len(options)], IfMissing())...)
}

// SaveMany saves several entities, locally in one transaction. If some of them fail, the call succeeds, and the result
// has their errors. In a [Network] collection it only inserts: entities that exist are not replaced.
func (c *Collection[T]) SaveMany(
	ctx context.Context, entities []T, options ...Option,
) (SaveManyResult[T], error) {
	text, err := marshalAll(entities)
	if err != nil {
		return SaveManyResult[T]{}, err
	}
	return decode[SaveManyResult[T]](c.store.saveMany(ctx, text, options))
}

// RemoveByID removes one entity and returns 1, or 0 if there was none.
func (c *Collection[T]) RemoveByID(ctx context.Context, id string, options ...Option) (int, error) {
	return c.store.removeByID(ctx, id, options)
}

// Remove removes the entities that match and returns their number. A nil query is ErrInvalid: see
// [Collection.RemoveAll].
func (c *Collection[T]) Remove(ctx context.Context, query *Query, options ...Option) (int, error) {
	if query == nil {
		return 0, invalid("Remove needs a query; RemoveAll removes every entity")
	}
	return c.store.remove(ctx, query, options)
}

// RemoveAll removes every entity of the collection and returns their number.
func (c *Collection[T]) RemoveAll(ctx context.Context, options ...Option) (int, error) {
	return c.store.remove(ctx, nil, options)
}

// Pull fetches the entities that match into the local store. It fails with ErrPending if writes are pending.
func (c *Collection[T]) Pull(
	ctx context.Context, query *Query, options ...Option,
) (PullResult, error) {
	return decode[PullResult](c.store.pull(ctx, query, options))
}

// PullEntities pulls and then finds the matching entities in the local store. The iterator fetches them in pages.
func (c *Collection[T]) PullEntities(
	ctx context.Context, query *Query, options ...Option,
) (*Iterator[T], error) {
	if _, err := c.Pull(ctx, query, options...); err != nil {
		return nil, err
	}
	return c.findHere(ctx, query, options)
}

// SyncEntities syncs and then finds the matching entities in the local store, as [Collection.PullEntities] does.
func (c *Collection[T]) SyncEntities(
	ctx context.Context, query *Query, options ...Option,
) (SyncResult, *Iterator[T], error) {
	result, err := c.Sync(ctx, query, options...)
	if err != nil {
		return result, nil, err
	}
	found, err := c.findHere(ctx, query, options)
	return result, found, err
}

func (c *Collection[T]) findHere(
	ctx context.Context, query *Query, options []Option,
) (*Iterator[T], error) {
	return c.Find(ctx, query, append(append([]Option(nil), options...), WithReadPolicy(ReadLocal))...)
}

// Push sends all pending writes. If the backend refuses some of them, the call succeeds, the result has their errors,
// and they stay pending.
func (c *Collection[T]) Push(ctx context.Context, options ...Option) (PushResult, error) {
	return decode[PushResult](c.store.push(ctx, options))
}

// Sync pushes and then pulls what matches. It pulls nothing if the push had errors.
func (c *Collection[T]) Sync(
	ctx context.Context, query *Query, options ...Option,
) (SyncResult, error) {
	return decode[SyncResult](c.store.sync(ctx, query, options))
}

// Pending returns the queue of pending writes.
func (c *Collection[T]) Pending() *Pending { return &Pending{c.store} }

// CreateIndex creates an index over the local entities of the collection. If the same index exists, it does nothing.
func (c *Collection[T]) CreateIndex(index Index) error { return c.store.createIndex(index) }

// DropIndex drops an index. It fails with ErrNotFound if there is none with this name.
func (c *Collection[T]) DropIndex(name string) error { return c.store.dropIndex(name) }

// Indexes lists the indexes of the collection.
func (c *Collection[T]) Indexes() ([]StoredIndex, error) { return c.store.indexes() }

// Explain runs a find in the local data and returns how it was carried out.
func (c *Collection[T]) Explain(query *Query) (Explanation, error) { return c.store.explain(query) }

// Purge discards the pending writes of matching entities and returns their number. The entities stay.
func (c *Collection[T]) Purge(query *Query) (int, error) { return c.store.purge(query) }

// Clear removes matching entities and their pending writes from the local store only. It returns the number of
// entities.
func (c *Collection[T]) Clear(query *Query) (int, error) { return c.store.clear(query) }

// decode reads the result of an operation.
func decode[T any](text []byte, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return unmarshal[T](text)
}
