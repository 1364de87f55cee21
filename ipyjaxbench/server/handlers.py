"""The API: each handler reads its query, has a function of plain values answer it, and sends that.

All of it is ``GET``, none of it counts as activity, and nothing slow runs on the event loop. The
decorators stand in each class with their resource: shared ones would keep that of the first call.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado.web import authenticated

from ipyjaxbench.errors import RecordError
from ipyjaxbench.ipynb import TooLargeError
from ipyjaxbench.server.contents import file_path, open_notebook
from ipyjaxbench.server.errors import NotFoundError, QueryError, RefusedError
from ipyjaxbench.server.lazy import LazyAnswers
from ipyjaxbench.server.query import HistoryQuery
from ipyjaxbench.server.settings import IpyJaxBenchServer

if TYPE_CHECKING:
    from ipyjaxbench.server.answers import Answers

_BAD_REQUEST, _NOT_FOUND, _TOO_LARGE, _UNPROCESSABLE = 400, 404, 413, 422
_SAVING_SECONDS = 0.2
_FORMATS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}


class _Handler(APIHandler):
    """What all have: answers that are made in a thread, and settings."""

    _track_activity = False

    def initialize(self, answers: LazyAnswers, settings_of_ours: IpyJaxBenchServer) -> None:
        self.answers, self.ours = answers, settings_of_ours

    async def answer(self, make: Callable[["Answers"], object]) -> None:
        """Send what a function makes, as JSON."""
        body = await self.call(lambda answers: _encode(make(answers)))
        self.set_header("Cache-Control", "no-cache")
        await self.finish(body)

    async def call(self, make: Callable[["Answers"], Any]) -> Any:
        """Return what a function makes, in a thread; what it refuses is the request's fault."""
        try:
            return await asyncio.to_thread(lambda: make(self.answers.get()))
        except QueryError as error:
            raise RefusedError(_BAD_REQUEST, str(error)) from None
        except NotFoundError as error:
            raise RefusedError(_NOT_FOUND, str(error)) from None
        except TooLargeError as error:
            raise RefusedError(_TOO_LARGE, str(error)) from None
        except RecordError as error:
            raise RefusedError(_UNPROCESSABLE, str(error)) from None

    def write_error(self, status_code: int, **how: Any) -> None:
        """Send why there is no answer."""
        error = how.get("exc_info", (None, None))[1]
        if isinstance(error, RefusedError):
            self.finish({"message": error.text})
        else:
            super().write_error(status_code, **how)

    def arguments(self) -> dict[str, str]:
        """Return the query; of what is given twice, the last."""
        return {name: self.get_query_argument(name) for name in self.request.query_arguments}


class HistoryHandler(_Handler):
    """``api/history``: what was measured."""

    @authenticated
    @authorized("read", "ipyjaxbench")
    async def get(self) -> None:
        """Send a page of the history, or all that match as a file."""
        query = await self.call(lambda _: HistoryQuery.read(self.arguments()))
        self.set_header("Etag", f'"{await self.call(lambda answers: answers.refresh())}"')
        if self.check_etag_header():
            self.set_status(304)
            await self.finish()
        elif query.format in _FORMATS:
            text = await self.call(lambda answers: answers.export(query))
            self.set_header("Content-Disposition", f"attachment; filename=history.{query.format}")
            await self.finish(text, set_content_type=_FORMATS[query.format])
        else:
            await self.answer(lambda answers: answers.history(query))


class DetailsHandler(_Handler):
    """``api/history/<id>``: one measurement."""

    @authenticated
    @authorized("read", "ipyjaxbench")
    async def get(self, id: str) -> None:
        """Send all that is known of it."""
        await self.call(lambda answers: answers.refresh())
        await self.answer(lambda answers: answers.details(id))


class NotebookHandler(_Handler):
    """``api/notebook/<path>``: the cells of a notebook."""

    @authenticated
    @authorized("read", "contents")
    async def get(self, path: str) -> None:
        """Send the newest measurement of each of its cells."""
        try:
            await self._answer(path)
        except RefusedError as error:
            if error.status_code != _UNPROCESSABLE:
                raise
            await asyncio.sleep(_SAVING_SECONDS)  # it may be half written
            await self._answer(path)

    async def _answer(self, path: str) -> None:
        baseline = self.get_query_argument("baseline", "")
        file = file_path(self.contents_manager, path)
        places = (path, file) if file else (path,)  # kernels may have written either name
        limits = self.ours.limits
        await self.call(lambda answers: answers.refresh())
        with await open_notebook(self, path, self.ours.max_notebook) as opened:
            await self.answer(
                lambda answers: answers.notebook(path, opened, places, baseline, limits)
            )


class CompareHandler(_Handler):
    """``api/compare``: two measurements, or two saved notebooks."""

    @authenticated
    @authorized("read", "contents")
    async def get(self) -> None:
        """Send what differs, and how much."""
        before, after = (self.get_query_argument(name) for name in ("before", "after"))
        if before.endswith(".ipynb") and after.endswith(".ipynb"):
            names, limits = (before, after), self.ours.limits
            with (await open_notebook(self, before, self.ours.max_notebook) as first,
                  await open_notebook(self, after, self.ours.max_notebook) as second):  # fmt: skip
                files = (first, second)
                await self.answer(lambda answers: answers.compare_notebooks(names, files, limits))
        else:
            await self.call(lambda answers: answers.refresh())
            await self.answer(lambda answers: answers.compare(before, after))


class MachineHandler(_Handler):
    """``api/machine``: where the server runs."""

    @authenticated
    @authorized("read", "ipyjaxbench")
    async def get(self) -> None:
        """Send what the machine has."""
        await self.answer(lambda answers: answers.machine())


class LiveHandler(_Handler):
    """``api/live``: what is measured now."""

    @authenticated
    @authorized("read", "ipyjaxbench")
    async def get(self) -> None:
        """Send it, with the version of the history."""
        await self.answer(lambda answers: answers.live())


def _encode(value: Any) -> bytes:
    import msgspec

    return msgspec.json.encode(value)  # what is not a number becomes null
