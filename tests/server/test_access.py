"""Who may look, and from where; looking is no activity; nothing is open to all."""

import itertools
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from jupyter_server.serverapp import JupyterServerAuthWarning
from tornado.httpclient import HTTPClientError

from tests.results import measured
from tests.server.conftest import CONTRACT, Keep, write_notebook

PATHS = (
    ("api", "history"),
    ("api", "history", "x.1"),
    ("api", "notebook", "a.ipynb"),
    ("api", "compare"),
    ("api", "machine"),
    ("api", "live"),
    ("static", "page.html"),
    (),
)
APIS = [path for path in PATHS if path[:1] == ("api",)]
_GIVEN = {"compare": {"before": "a.ipynb", "after": "a.ipynb"}}


async def code(jp_fetch: Any, path: tuple[str, ...], **how: Any) -> int:
    try:
        params = _GIVEN.get(path[-1] if path else "", {})
        answer = await jp_fetch("ipyjaxbench", *path, params=params, **how)
    except HTTPClientError as error:
        return error.code
    return int(answer.code)


async def cookies_of_login(jp_fetch: Any, jp_serverapp: Any) -> str:
    token = {"token": jp_serverapp.identity_provider.token}
    page = await jp_fetch("ipyjaxbench", headers={"Authorization": ""}, params=token)
    return "; ".join(each.partition(";")[0] for each in page.headers.get_list("Set-Cookie"))


def test_the_contract_names_all_paths() -> None:
    parts = {path[1] for path in PATHS if path[:1] == ("api",)}
    assert {path.split("/")[1] for path in CONTRACT["paths"]} == parts
    assert {verb for path in CONTRACT["paths"].values() for verb in path} == {"get"}


async def test_without_the_token_nothing_is_told_and_with_it_nothing_changed(
    jp_fetch: Any,
) -> None:
    for path, token in itertools.product(PATHS, ("", "token bad")):
        how = {"headers": {"Authorization": token}, "follow_redirects": False}
        # A page sends people to the login; an API and a file just refuse.
        assert await code(jp_fetch, path, **how) == (403 if path in APIS else 302), path
    for path, method in itertools.product(APIS, ("POST", "PUT", "DELETE", "PATCH")):
        body = {} if method == "DELETE" else {"body": "{}"}
        assert await code(jp_fetch, path, method=method, **body) == 405, (path, method)


async def test_another_site_is_refused(jp_fetch: Any, jp_serverapp: Any, jp_root_dir: Path) -> None:
    """Its page could use the cookie of who is logged in."""
    write_notebook(jp_root_dir / "a.ipynb", ("one", "%fwtime f(x)"),
                   results={"one": measured([1000] * 100)})  # fmt: skip
    logged_in = {"Authorization": "", "Cookie": await cookies_of_login(jp_fetch, jp_serverapp)}
    for path in APIS:
        own = 404 if path == ("api", "history", "x.1") else 200  # there is no such measurement
        assert await code(jp_fetch, path, headers=logged_in) == own
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("ipyjaxbench", *path, params=_GIVEN.get(path[-1], {}),
                           headers={**logged_in, "Origin": "https://evil.example"})  # fmt: skip
        assert refused.value.code == 404
        assert json.loads(refused.value.response.body)["message"] == "Not Found"


class ReadOnly(Authorizer):
    """Lets people look."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action == "read"


class Without(Authorizer):
    """Refuses one resource."""

    resource = ""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != self.resource


async def test_who_may_read_may_look_which_is_no_activity(
    jp_serverapp: Any, jp_fetch: Any, jp_root_dir: Path, keep: Keep
) -> None:
    write_notebook(jp_root_dir / "a.ipynb", ("one", "1"))
    settings, own_id = jp_serverapp.web_app.settings, keep()
    settings["authorizer"] = ReadOnly(parent=jp_serverapp)
    settings.pop("api_last_activity", None)
    for path in PATHS:
        full = (*path[:2], own_id) if path[1:2] == ("history",) and len(path) > 2 else path
        expected = 422 if path[-1:] == ("compare",) else 200  # nothing is measured there
        assert await code(jp_fetch, full) == expected, path
    assert "api_last_activity" not in settings
    await jp_fetch("api", "kernels")  # as others do
    assert "api_last_activity" in settings
    settings["authorizer"] = authorizer = Without(parent=jp_serverapp)
    for authorizer.resource, refused in (
        ("contents", {"notebook", "compare"}),
        ("ipyjaxbench", {"history", "machine", "live", "static", ""}),
    ):
        for path in PATHS:
            name = "" if not path else path[1] if path[0] == "api" else path[0]
            assert (await code(jp_fetch, path) == 403) == (name in refused), path


def test_no_handler_is_open_to_those_who_are_not_logged_in(
    jp_configurable_serverapp: Any, jp_server_config: dict[str, Any]
) -> None:
    jp_server_config["ServerApp"]["allow_unauthenticated_access"] = False
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        jp_configurable_serverapp(config=jp_server_config)
    about = [w for w in raised if issubclass(w.category, JupyterServerAuthWarning)]
    assert [str(w.message) for w in about if "ipyjaxbench" in str(w.message)] == []


async def test_the_page_runs_nothing_but_its_own_files_and_no_other_is_served(
    jp_fetch: Any,
) -> None:
    page = await jp_fetch("ipyjaxbench")
    rules = page.headers["Content-Security-Policy"]
    assert "script-src 'self';" in rules
    assert "unsafe" not in rules
    assert b"<script>" not in page.body
    module = await jp_fetch("ipyjaxbench", "static", "page.js")
    assert "sandbox" not in module.headers["Content-Security-Policy"]
    assert "javascript" in module.headers["Content-Type"]
    for path in ("../../__init__.py", "..%2F..%2F__init__.py", "none.js", "", "%00", "page.js%00"):
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("ipyjaxbench", "static", path)
        assert refused.value.code in (403, 404), path


class TestBehindAHub:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        """As a Hub starts servers."""
        jp_server_config["ServerApp"] |= {
            "base_url": "/user/a%40b/",
            "tornado_settings": {"headers": {"Content-Security-Policy": "frame-ancestors 'none'"}},
        }
        return jp_server_config

    @pytest.fixture
    def jp_base_url(self) -> str:
        return "/user/a%40b/"

    async def test_page_and_api_are_below_its_prefix(self, jp_fetch: Any) -> None:
        page = await jp_fetch("ipyjaxbench")
        assert page.headers["Content-Security-Policy"].startswith("frame-ancestors 'none'")
        assert json.loads((await jp_fetch("ipyjaxbench", "api", "live")).body)["measuring"] == []
