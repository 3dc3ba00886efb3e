"""The operator, put together: one client, one gate, one queue; kopf as informer; one HTTP server."""

from __future__ import annotations

import asyncio
import shutil
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime

import kopf
from aiohttp import web

from sanare import telemetry
from sanare.actor.llm.actor import LlmActor, read_prices
from sanare.actor.roster import Roster
from sanare.errors import ConfigError, Forbidden, KubeError, NotFound
from sanare.evaluator.declared.asker import Means
from sanare.evaluator.evaluator import Evaluator
from sanare.handlers.incidents import informer, informer_settings
from sanare.ingest.webhook import create_routes
from sanare.kube.client import KubeClient
from sanare.kube.events import EventRecorder
from sanare.kube.resources import BY_KIND
from sanare.kubectl.gate import Gate
from sanare.reconcile.admission import default_policy
from sanare.reconcile.kit import Kit
from sanare.reconcile.reconciler import Reconciler
from sanare.reconcile.workers import Workers
from sanare.settings import Settings

STOP_GRACE = 20.0  # seconds that running steps get when the operator is asked to stop
_log = telemetry.logger(__name__)


def utc_now() -> datetime:
    """The clock of the running operator."""
    return datetime.now(UTC)


async def run(settings: Settings, *, stop: asyncio.Event | None = None) -> None:
    """Run until SIGTERM, SIGINT or `stop`. Raises ConfigError where it cannot work at all."""
    async with AsyncExitStack() as stack:
        kube = await stack.enter_async_context(await KubeClient.connect())
        await preflight(kube, settings)
        kit = await stack.enter_async_context(assemble(kube, settings))
        workers = Workers(
            kube, Reconciler(kit, default_policy(settings)), count=settings.workers, relist=settings.relist_seconds
        )
        await stack.enter_async_context(serve(kube, settings))
        workers.start(settings.watch_namespaces)
        _log.info("operator started", namespaces=",".join(settings.watch_namespaces) or "all", kubectl=kit.kubectl)
        await _inform(kube, workers, settings, stop or asyncio.Event())


async def _inform(kube: KubeClient, workers: Workers, settings: Settings, stop: asyncio.Event) -> None:
    """Feed the queue until asked to stop; then let running steps end before anything else is closed.

    kopf runs in a thread and loop of its own: at its end it cancels every task of its loop, and a write of ours
    that is under way must not be among them. Its failure is ours: the pod restarts.
    """
    loop = asyncio.get_running_loop()
    for signal_ in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_, stop.set)
    end = threading.Event()
    watching = asyncio.create_task(asyncio.to_thread(_watch, kube, workers, settings, loop, end))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({watching, stopping}, return_when=asyncio.FIRST_COMPLETED)
    await workers.stop(grace=STOP_GRACE)
    end.set()
    stopping.cancel()
    await watching


def _watch(
    kube: KubeClient, workers: Workers, settings: Settings, loop: asyncio.AbstractEventLoop, end: threading.Event
) -> None:
    kopf.run(
        registry=informer(kube, lambda key: loop.call_soon_threadsafe(workers.queue.add, key)),
        settings=informer_settings(),
        clusterwide=not settings.watch_namespaces,
        namespaces=settings.watch_namespaces,
        stop_flag=end,
    )


@asynccontextmanager
async def assemble(kube: KubeClient, settings: Settings) -> AsyncIterator[Kit]:
    """The adapters of one operator, closed at the end."""
    llm = LlmActor.connect(prices=settings.prices_file)
    roster = Roster(llm, prices=read_prices(settings.prices_file), clock=utc_now)
    gate = Gate(kube, settings)
    try:
        await gate.start()
        yield Kit(
            kube=kube,
            evaluator=Evaluator(kube, Means.of(settings)),
            gate=gate,
            actors=roster,
            recorder=EventRecorder(kube),
            settings=settings,
            clock=utc_now,
            kubectl=find_kubectl(settings),
        )
    finally:
        await gate.stop()
        await roster.close()


def find_kubectl(settings: Settings) -> str:
    """The kubectl to run. Raises ConfigError where there is none."""
    found = shutil.which(settings.kubectl or "kubectl")
    if found is None:
        raise ConfigError(
            f"kubectl not found ({settings.kubectl or 'on PATH'}): install it or set SANARE_KUBECTL to its path"
        )
    return found


async def preflight(kube: KubeClient, settings: Settings) -> None:
    """Fail early, in words: CRDs missing or rights missing. Raises ConfigError."""
    for namespace in settings.watch_namespaces or ("",):
        try:
            await kube.list(BY_KIND["Incident"], namespace, chunk=1)
        except NotFound as error:
            raise ConfigError("the CRDs of sanare.dev are not installed: kubectl apply -f crds/") from error
        except Forbidden as error:
            raise ConfigError(
                f"no right to list incidents in {namespace or 'all namespaces'}: install the chart's Roles, or set "
                f"SANARE_WATCH_NAMESPACES to the namespaces that the operator may watch ({error})"
            ) from error
        except KubeError as error:
            raise ConfigError(f"the API server does not answer: {error}") from error


@asynccontextmanager
async def serve(kube: KubeClient, settings: Settings) -> AsyncIterator[None]:
    """Probes, metrics and, where it has a token, the Alertmanager webhook."""
    app = web.Application(client_max_size=1024 * 1024)
    app.add_routes([web.get("/livez", _ok), web.get("/readyz", _ok), web.get("/metrics", _metrics)])
    app.add_routes(create_routes(kube, settings, clock=utc_now))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await _listen(runner, settings)
        yield
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, settings: Settings) -> None:
    host, port = settings.listen
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise ConfigError(f"SANARE_LISTEN={host}:{port}: {error.strerror}; choose a free port") from error


async def _ok(_: web.Request) -> web.Response:
    return web.Response(text="ok\n")


async def _metrics(_: web.Request) -> web.Response:
    return web.Response(body=telemetry.metrics_page(), content_type="text/plain", charset="utf-8")
