"""Pods over time, in virtual seconds: what the status says, which events there are, when things are tried again."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sanare_lab.cluster.objects import Obj
from sanare_lab.cluster.resources import CONFIG_MAPS
from tests.unit.cluster_sim.virtual import Lab, app, condition, main, shell, waiting

HTTP = {"httpGet": {"path": "/readyz", "port": 8080}}


def test_a_sound_pod_becomes_ready_and_serves(lab: Lab) -> None:
    life = lab.pod(app(env={"NONCE": "abc"}, readinessProbe=HTTP))
    lab.timers.advance(3)
    assert (life.status()["phase"], condition(life, "Ready")["status"]) == ("Running", "True")
    assert lab.machine.network.request(life.ip, 8080, "GET", "/").body == b"abc\n"
    assert [reason for reason, _, _ in lab.events()] == ["Pulled", "Created", "Started"]


def test_a_steady_probe_costs_no_timer(lab: Lab) -> None:
    lab.pod(app(readinessProbe=HTTP, livenessProbe=HTTP))
    lab.timers.advance(60)
    assert len(lab.timers) == 0


def test_an_unknown_image_is_tried_again_with_growing_pauses(lab: Lab) -> None:
    life = lab.pod({"name": "app", "image": "shop.local/ap:1"})
    lab.timers.advance(1.5)
    assert waiting(life) == "ErrImagePull"
    lab.timers.advance(2)
    assert waiting(life) == "ImagePullBackOff"
    assert main(life)["state"]["waiting"]["message"].startswith(
        'Back-off pulling image "shop.local/ap:1": ErrImagePull'
    )
    lab.timers.advance(60)
    assert ("Pulling", 'Pulling image "shop.local/ap:1"', 3) in lab.events()


def test_a_crashing_container_is_restarted_at_once_and_then_after_10_20_40_seconds(lab: Lab) -> None:
    life = lab.pod(shell("exit 3"))
    seen = []
    for _ in range(90):
        lab.timers.advance(1)
        seen.append(main(life)["restartCount"])
    starts = [seconds for seconds in range(1, 90) if seen[seconds] > seen[seconds - 1]]
    gaps = [late - early for early, late in pairwise(starts)]
    assert seen[4] == 1
    assert [round(gap, -1) for gap in gaps] == [10, 20, 40]
    assert main(life)["lastState"]["terminated"]["exitCode"] == 3
    assert waiting(life) == "CrashLoopBackOff"


def test_the_pause_never_exceeds_five_minutes(lab: Lab) -> None:
    life = lab.pod(shell("exit 1"))
    lab.timers.advance(4000)
    assert "back-off 5m0s restarting failed container=app" in main(life)["state"]["waiting"]["message"]


def test_ten_minutes_of_running_forgive_earlier_crashes(lab: Lab) -> None:
    life = lab.pod(shell("sleep 700; exit 1"))
    lab.timers.advance(702 * 3)
    assert main(life)["restartCount"] == 3
    assert "running" in main(life)["state"]


@pytest.mark.parametrize(
    ("policy", "script", "phase", "restarts"),
    [
        ("Never", "exit 1", "Failed", 0),
        ("Never", "exit 0", "Succeeded", 0),
        ("OnFailure", "exit 0", "Succeeded", 0),
        ("OnFailure", "exit 1", "Running", 1),
        ("Always", "exit 0", "Running", 1),
    ],
)
def test_the_restart_policy_decides_what_an_exit_means(
    lab: Lab, policy: str, script: str, phase: str, restarts: int
) -> None:
    life = lab.pod(shell(script), restartPolicy=policy)
    lab.timers.advance(5)
    assert (life.status()["phase"], main(life)["restartCount"]) == (phase, restarts)


REFERENCES: list[tuple[str, Obj, str]] = [
    ("missing ConfigMap", {"configMapKeyRef": {"name": "none", "key": "k"}}, 'configmap "none" not found'),
    ("missing key", {"configMapKeyRef": {"name": "cm", "key": "k"}}, "couldn't find key k in ConfigMap shop/cm"),
    ("missing Secret", {"secretKeyRef": {"name": "none", "key": "k"}}, 'secret "none" not found'),
    ("missing Secret key", {"secretKeyRef": {"name": "sec", "key": "k"}}, "couldn't find key k in Secret shop/sec"),
]


@pytest.mark.parametrize(
    ("source", "message"), [case[1:] for case in REFERENCES], ids=[case[0] for case in REFERENCES]
)
def test_a_reference_that_leads_nowhere_stops_the_container(lab: Lab, source: Obj, message: str) -> None:
    lab.config_map("cm", a="b")
    lab.secret("sec", a="b")
    life = lab.pod({"name": "app", "image": "shop.local/app:1", "env": [{"name": "A", "valueFrom": source}]})
    lab.timers.advance(2)
    assert main(life)["state"]["waiting"] == {"reason": "CreateContainerConfigError", "message": message}
    assert lab.messages("Failed") == [f"Error: {message}"]


def test_a_missing_reference_that_appears_lets_the_container_start(lab: Lab) -> None:
    source = {"configMapKeyRef": {"name": "late", "key": "a"}}
    life = lab.pod({"name": "app", "image": "shop.local/app:1", "env": [{"name": "NONCE", "valueFrom": source}]})
    lab.timers.advance(5)
    lab.config_map("late", a="now")
    lab.timers.advance(15)
    assert lab.machine.network.request(life.ip, 8080, "GET", "/").body == b"now\n"


def test_an_optional_reference_may_be_missing(lab: Lab) -> None:
    source = {"secretKeyRef": {"name": "none", "key": "k", "optional": True}}
    life = lab.pod({"name": "app", "image": "shop.local/app:1", "env": [{"name": "A", "valueFrom": source}]})
    lab.timers.advance(2)
    assert main(life)["ready"]


VOLUMES: list[tuple[str, Obj, str]] = [
    ("ConfigMap", {"configMap": {"name": "none"}}, 'configmap "none" not found'),
    ("Secret", {"secret": {"secretName": "none"}}, 'secret "none" not found'),
    (
        "ConfigMap key",
        {"configMap": {"name": "cm", "items": [{"key": "zz", "path": "zz"}]}},
        "configmap references non-existent config key: zz",
    ),
    (
        "projected",
        {"projected": {"sources": [{"configMap": {"name": "none"}}]}},
        'configmap "none" not found',
    ),
]


@pytest.mark.parametrize(("source", "message"), [case[1:] for case in VOLUMES], ids=[case[0] for case in VOLUMES])
def test_a_volume_that_cannot_be_mounted_keeps_the_pod_creating(lab: Lab, source: Obj, message: str) -> None:
    lab.config_map("cm", a="b")
    life = lab.pod(app(), volumes=[{"name": "v", **source}])
    lab.timers.advance(30)
    assert waiting(life) == "ContainerCreating"
    assert condition(life, "PodReadyToStartContainers")["status"] == "False"
    assert set(lab.messages("FailedMount")) == {f'MountVolume.SetUp failed for volume "v" : {message}'}


def test_the_app_reads_its_files_from_a_volume(lab: Lab) -> None:
    lab.config_map("cm", mode="blue")
    mounts = [{"name": "v", "mountPath": "/etc/app"}, {"name": "v", "mountPath": "/one", "subPath": "mode"}]
    container = app(env={"REQUIRE_FILES": "/etc/app/mode,/one"}, volumeMounts=mounts)
    life = lab.pod(container, volumes=[{"name": "v", "configMap": {"name": "cm"}}])
    lab.timers.advance(2)
    assert main(life)["ready"]


def test_a_restarted_container_sees_a_changed_config_map(lab: Lab) -> None:
    lab.config_map("cm", other="blue")
    container = app(env={"REQUIRE_FILES": "/etc/app/mode"}, volumeMounts=[{"name": "v", "mountPath": "/etc/app"}])
    life = lab.pod(container, volumes=[{"name": "v", "configMap": {"name": "cm"}}])
    lab.timers.advance(5)
    assert not main(life)["ready"]
    lab.store.modify(CONFIG_MAPS, "shop", "cm", lambda copy: copy["data"].update(mode="blue"))
    lab.timers.advance(30)
    assert main(life)["ready"]


def test_an_empty_dir_carries_files_from_an_init_container(lab: Lab) -> None:
    mounts = [{"name": "v", "mountPath": "/scratch"}]
    init = shell("echo x > /scratch/file", name="init", volumeMounts=mounts)
    life = lab.pod(
        app(env={"REQUIRE_FILES": "/scratch/file"}, volumeMounts=mounts),
        initContainers=[init],
        volumes=[{"name": "v", "emptyDir": {}}],
    )
    lab.timers.advance(5)
    assert main(life)["ready"]


def test_a_failing_init_container_holds_the_pod_and_backs_off(lab: Lab) -> None:
    life = lab.pod(app(), initContainers=[shell("exit 2", name="init")])
    lab.timers.advance(8)
    status = life.status()
    assert status["phase"] == "Pending"
    assert status["initContainerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert waiting(life) == "PodInitializing"
    assert condition(life, "Initialized")["message"] == "containers with incomplete status: [init]"


def test_init_containers_run_one_after_the_other(lab: Lab) -> None:
    life = lab.pod(app(), initContainers=[shell("sleep 20", name="one"), shell("sleep 20", name="two")])
    lab.timers.advance(10)
    states = [item["state"] for item in life.status()["initContainerStatuses"]]
    assert ["running" in state for state in states] == [True, False]
    lab.timers.advance(40)
    assert main(life)["ready"]


def test_a_sidecar_goes_on_beside_the_main_container_and_ends_after_it(lab: Lab) -> None:
    sidecar = shell("sleep infinity", name="side", restartPolicy="Always")
    life = lab.pod(shell("sleep 10"), initContainers=[sidecar], restartPolicy="Never")
    lab.timers.advance(5)
    assert "running" in life.status()["initContainerStatuses"][0]["state"]
    lab.timers.advance(15)
    status = life.status()
    assert status["phase"] == "Succeeded"
    assert "terminated" in status["initContainerStatuses"][0]["state"]


def test_a_missing_executable_is_a_start_error_and_then_a_crash_loop(lab: Lab) -> None:
    life = lab.pod(app(command=["nosuch"]))
    lab.timers.advance(6)
    assert main(life)["lastState"]["terminated"]["exitCode"] == 128
    assert main(life)["lastState"]["terminated"]["reason"] == "StartError"
    assert waiting(life) == "CrashLoopBackOff"
    assert 'exec: "nosuch": executable file not found in $PATH' in lab.messages("Failed")[0]


@pytest.mark.parametrize(("limit", "killed"), [("32Mi", True), ("65Mi", True), ("128Mi", False), ("64Gi", False)])
def test_memory_touched_beyond_the_limit_is_an_oom_kill(lab: Lab, limit: str, *, killed: bool) -> None:
    life = lab.pod(app(env={"ALLOC_MB": 64}, resources={"limits": {"memory": limit}}))
    lab.timers.advance(6)
    last = main(life)["lastState"].get("terminated", {})
    assert ((last.get("reason"), last.get("exitCode")) == ("OOMKilled", 137)) is killed


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"runAsNonRoot": True}, "container has runAsNonRoot and image will run as root"),
        ({"runAsNonRoot": True, "runAsUser": 0}, "container's runAsUser breaks non-root policy"),
        ({"runAsNonRoot": True, "runAsUser": 1000}, ""),
        ({"runAsNonRoot": False}, ""),
    ],
)
def test_root_is_refused_where_the_pod_forbids_it(lab: Lab, context: Obj, message: str) -> None:
    life = lab.pod(app(securityContext=context))
    lab.timers.advance(2)
    found = main(life)["state"].get("waiting", {}).get("message", "")
    assert found.startswith(message)
    assert bool(found) is bool(message)


def test_a_failing_liveness_probe_kills_the_container_after_its_threshold(lab: Lab) -> None:
    probe = {"httpGet": {"path": "/incorrect", "port": 8080}, "periodSeconds": 5, "failureThreshold": 2}
    life = lab.pod(app(livenessProbe=probe))
    lab.timers.advance(4)
    assert main(life)["restartCount"] == 0
    lab.timers.advance(8)
    assert main(life)["restartCount"] == 1
    assert lab.messages("Unhealthy") == ["Liveness probe failed: HTTP probe failed with statuscode: 404"]
    assert lab.messages("Killing") == ["Container app failed liveness probe, will be restarted"]


def test_a_liveness_probe_that_cannot_be_made_kills_nothing(lab: Lab) -> None:
    life = lab.pod(app(livenessProbe={"exec": {"command": ["nosuch"]}, "periodSeconds": 1}))
    lab.timers.advance(30)
    assert main(life)["restartCount"] == 0
    assert lab.messages("Unhealthy")[0].startswith("Liveness probe errored and resulted in unknown state: ")


def test_a_startup_probe_keeps_liveness_away_until_the_app_is_up(lab: Lab) -> None:
    liveness = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1, "failureThreshold": 1}
    startup = {"tcpSocket": {"port": 8080}, "periodSeconds": 5, "failureThreshold": 10}
    life = lab.pod(app(env={"START_DELAY": 20}, livenessProbe=liveness, startupProbe=startup))
    lab.timers.advance(15)
    assert (main(life)["started"], main(life)["ready"]) == (False, False)
    lab.timers.advance(15)
    assert (main(life)["started"], main(life)["ready"], main(life)["restartCount"]) == (True, True, 0)


def test_liveness_that_is_faster_than_the_start_kills_again_and_again(lab: Lab) -> None:
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 2, "failureThreshold": 2}
    life = lab.pod(app(env={"START_DELAY": 20}, livenessProbe=probe))
    lab.timers.advance(60)
    assert main(life)["restartCount"] >= 2


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (
            {"httpGet": {"path": "/readyz", "port": 8081}},
            'Readiness probe failed: Get "http://10.244.0.2:8081/readyz": dial tcp 10.244.0.2:8081: '
            "connect: connection refused",
        ),
        (
            {"tcpSocket": {"port": 99}},
            "Readiness probe failed: dial tcp 10.244.0.2:99: connect: connection refused",
        ),
        ({"exec": {"command": ["false"]}}, "Readiness probe failed: "),
    ],
)
def test_an_unready_pod_says_why_in_the_kubelets_words(lab: Lab, probe: Obj, message: str) -> None:
    life = lab.pod(app(readinessProbe=probe))
    lab.timers.advance(5)
    assert (life.status()["phase"], condition(life, "Ready")["reason"]) == ("Running", "ContainersNotReady")
    assert lab.messages("Unhealthy") == [message]


def test_a_probe_from_outside_does_not_reach_loopback(lab: Lab) -> None:
    life = lab.pod(app(env={"BIND": "127.0.0.1"}, readinessProbe=HTTP))
    lab.timers.advance(5)
    assert not main(life)["ready"]


@pytest.mark.parametrize(
    ("container", "seconds"),
    [
        pytest.param(app(), 1, id="the app ends on SIGTERM"),
        pytest.param(shell("sleep infinity"), 30, id="a shell does not"),
    ],
)
def test_a_deleted_pod_ends_with_its_process_or_with_its_grace(lab: Lab, container: Obj, seconds: float) -> None:
    life = lab.pod(container)
    lab.timers.advance(5)
    lab.delete(life)
    lab.timers.advance(seconds - 0.5)
    assert lab.over == ([] if seconds > 1 else [life])
    lab.timers.advance(1)
    assert lab.over == [life]
    assert lab.messages("Killing") == ["Stopping container app"]


def test_an_image_changed_in_place_restarts_the_container(lab: Lab) -> None:
    life = lab.pod({"name": "app", "image": "shop.local/ap:1"})
    lab.timers.advance(5)
    changed = {**life.pod, "spec": {**life.pod["spec"], "containers": [app()]}}
    life.update(changed)
    lab.timers.advance(5)
    assert main(life)["ready"]


def test_a_pod_that_is_discarded_leaves_no_timer_and_frees_its_address(lab: Lab) -> None:
    life = lab.pod(shell("exit 1", livenessProbe=HTTP))
    lab.timers.advance(3)
    life.discard()
    assert len(lab.timers) == 0
    with pytest.raises(Exception, match="no route to host"):
        lab.machine.network.connect(life.ip, 8080)


@pytest.mark.parametrize(
    ("url", "ready"),
    [
        ("http://127.0.0.1:8080/readyz", True),
        ("http://127.0.0.1:8081/readyz", False),
        ("http://127.0.0.1:8080/other", False),
        ("http://nowhere/readyz", False),
    ],
)
def test_an_exec_probe_asks_from_within_the_pod(lab: Lab, url: str, *, ready: bool) -> None:
    probe = {"exec": {"command": ["wget", "-q", "-O", "/dev/null", url]}}
    life = lab.pod(app(env={"BIND": "127.0.0.1"}, readinessProbe=probe))
    lab.timers.advance(5)
    assert main(life)["ready"] is ready


def test_a_second_container_on_the_same_port_cannot_bind_it(lab: Lab) -> None:
    life = lab.pod(app(), {**app(), "name": "second"})
    lab.timers.advance(6)
    second = life.status()["containerStatuses"][1]
    assert main(life)["ready"]
    assert second["state"]["waiting"]["reason"] == "CrashLoopBackOff"


def test_a_second_container_on_another_port_forwards_to_the_first(lab: Lab) -> None:
    forward = app(env={"PORT": "8081", "BACKEND_URL": "http://127.0.0.1:8080/", "NONCE": "through"})
    life = lab.pod(app(env={"BIND": "127.0.0.1"}), {**forward, "name": "forward"})
    lab.timers.advance(3)
    assert lab.machine.network.request(life.ip, 8081, "GET", "/").body == b"through\n"
