"""Logs of a container, and the refusals that the real server and kubelet word."""

from __future__ import annotations

import asyncio

from aiohttp import web

from sanare_lab.cluster.api.pods import Pods
from sanare_lab.cluster.api.request import Call
from sanare_lab.cluster.errors import bad_request
from sanare_lab.cluster.objects import Obj, dig, name_of
from sanare_lab.cluster.resources import PODS
from sanare_lab.cluster.store import Store

_FOLLOW_SECONDS = 0.2
_PULLING = {"ErrImagePull": "image can't be pulled", "ImagePullBackOff": "trying and failing to pull image"}


async def serve_logs(store: Store, pods: Pods, call: Call) -> web.StreamResponse:
    """GET of pods/log: container, previous, tailLines, limitBytes, follow. Raises ApiError 400, 404."""
    target = call.target
    pod = store.require(PODS, target.namespace, target.name)
    container = _container(pod, call.text("container"))
    if not dig(pod, "spec", "nodeName"):
        return web.Response(text="")
    previous = call.flag("previous")
    read = pods.logs(
        target.namespace, target.name, container, previous=previous, tail_lines=call.number("tailLines")
    )
    if read is None or _is_pulling(pod, container):
        raise bad_request(_why_not(pod, container, previous=previous))
    limit = call.number("limitBytes")
    content = read.encode()[:limit] if limit is not None else read.encode()
    if call.flag("follow"):
        return await _follow(store, pods, call, container, content)
    return web.Response(body=content, content_type="text/plain")


def _names(pod: Obj, field: str) -> list[str]:
    return [item["name"] for item in dig(pod, "spec", field) or ()]


def _container(pod: Obj, asked: str) -> str:
    """The container that is meant: the only one where none is named."""
    names, init = _names(pod, "containers"), _names(pod, "initContainers")
    if asked in names or asked in init:
        return asked
    if asked:
        raise bad_request(f"container {asked} is not valid for pod {name_of(pod)}")
    if len(names) + len(init) == 1:
        return names[0]
    also = f" or one of the init containers: [{' '.join(init)}]" if init else ""
    raise bad_request(
        f"a container name must be specified for pod {name_of(pod)}, choose one of: [{' '.join(names)}]{also}"
    )


def _status(pod: Obj, container: str) -> Obj:
    status = pod.get("status") or {}
    found = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    return next((item for item in found if item["name"] == container), {})


def _is_pulling(pod: Obj, container: str) -> bool:
    status = _status(pod, container)
    return dig(status, "state", "waiting", "reason") in _PULLING and not status.get("lastState")


def _why_not(pod: Obj, container: str, *, previous: bool) -> str:
    if previous:
        return f'previous terminated container "{container}" in pod "{name_of(pod)}" not found'
    reason = dig(_status(pod, container), "state", "waiting", "reason") or "ContainerCreating"
    shown = _PULLING.get(reason, reason)
    return f'container "{container}" in pod "{name_of(pod)}" is waiting to start: {shown}'


async def _follow(store: Store, pods: Pods, call: Call, container: str, content: bytes) -> web.StreamResponse:
    """Stream what is written from now on, until the container's run ends or the client goes."""
    target = call.target
    answer = web.StreamResponse()
    answer.content_type = "text/plain"
    await answer.prepare(call.http)
    await answer.write(content)
    told = len(pods.logs(target.namespace, target.name, container) or "")
    while True:
        pod = store.get(PODS, target.namespace, target.name)
        written = pods.logs(target.namespace, target.name, container) or ""
        if len(written) < told or pod is None:
            break
        if len(written) > told:
            await answer.write(written[told:].encode())
            told = len(written)
        if dig(_status(pod, container), "state", "running") is None:
            break
        await asyncio.sleep(_FOLLOW_SECONDS)
    await answer.write_eof()
    return answer
