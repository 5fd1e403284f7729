"""Who may read and write an entity of a store."""

from __future__ import annotations

from typing import Any, Final, Unpack, cast

from .._option_types import CallOptions
from .._options import ShareOptions, to_ids, to_json, to_text
from ..request import OnAnswer, Request, TextReader
from ..results import E, decode_nothing
from .base import StoreBase

_NOTHING: Final = TextReader(decode_nothing)


class Sharing(StoreBase[E]):
    """Shares entities with users, with groups of users, and with everybody."""

    def share(self, id: str, **options: Unpack[ShareOptions]) -> None:
        """Let others read or write an entity: ``notes.share("n1", readers=[ben["_id"]])``.

        The call adds them to the entity's ``_acl``. Changes that others make there meanwhile are
        not lost, because the write is conditional. If there is no such entity,
        :class:`kvstore.NotFoundError` is raised. In most collections everybody may read an entity
        whose ``_acl`` does not say otherwise: see ``docs/sharing.md``.
        """
        self.share_async(id, **options).finish()

    def unshare(self, id: str, **options: Unpack[ShareOptions]) -> None:
        """Take back rights of :meth:`share`; ``everybody_reads=True`` makes an entity private.

        A user who is named more than once, or who is in a group, must be removed from each place.
        """
        self.unshare_async(id, **options).finish()

    # The asynchronous forms

    def share_async(
        self, id: str, *, on_answer: OnAnswer[None] | None = None, **options: Unpack[ShareOptions]
    ) -> Request[None]:
        """Start to share an entity."""
        return self._start_sharing("kv_store_share", id, options, on_answer)

    def unshare_async(
        self, id: str, *, on_answer: OnAnswer[None] | None = None, **options: Unpack[ShareOptions]
    ) -> Request[None]:
        """Start to take rights back."""
        return self._start_sharing("kv_store_unshare", id, options, on_answer)

    def _start_sharing(
        self, name: str, id: str, options: ShareOptions, on_answer: OnAnswer[None] | None
    ) -> Request[None]:
        key, (text, rest) = to_text(id, "id"), _rights(options)
        return self._start(name, _NOTHING, key, text, len(text), options=rest, on_answer=on_answer)


def _rights(options: ShareOptions) -> tuple[bytes, CallOptions]:
    """Return the rights in the form of an ``_acl``, and the other options."""
    rest: dict[str, Any] = {**options}
    ids = {
        name: to_ids(rest.pop(name, ()), name)
        for name in ("readers", "writers", "reader_groups", "writer_groups")
    }
    acl: dict[str, Any] = {
        "r": ids["readers"],
        "w": ids["writers"],
        "groups": {"r": ids["reader_groups"], "w": ids["writer_groups"]},
    }
    for member, name in (("gr", "everybody_reads"), ("gw", "everybody_writes")):
        if rest.pop(name, False):
            acl[member] = True
    return to_json(acl), cast(CallOptions, rest)
