"""Kinds of Kubernetes objects, each as in the documentation of its controller."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trainrx.launch.manifests.parts import read_manifest
from trainrx.launch.scripts import script_launches
from trainrx.model.job import Input

POD = "containers: [{image: trainer, command: %s, resources: {limits: {%s: 8}}}]"
SERVE = "[sh, -c, vllm serve m --data-parallel-size $(LWS_GROUP_SIZE)]"
SWIFT = "[bash, -c, NPROC_PER_NODE=8 NNODES=$WORLD_SIZE swift sft --model m --dataset d]"


def document(version: str, kind: str, spec: str) -> str:
    body = "".join(f"  {line}\n" for line in spec.strip("\n").split("\n"))
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: job}}\nspec:\n{body}"


# https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/pytorch/
PYTORCH = document(
    "kubeflow.org/v1",
    "PyTorchJob",
    f"""\
nprocPerNode: "%s"
pytorchReplicaSpecs:
  Master:
    replicas: 1
    template: {{spec: {{{POD % ("[torchrun, train.py, --seed, '1']", "nvidia.com/gpu")}}}}}
  Worker:
    replicas: 3
    template: {{spec: {{{POD % ("[torchrun, train.py, --seed, '1']", "nvidia.com/gpu")}}}}}
""",
)
# https://www.kubeflow.org/docs/components/trainer/operator-guides/migration/
TRAIN = document(
    "trainer.kubeflow.org/v1alpha1",
    "TrainJob",
    """\
runtimeRef: {name: torch-distributed}
trainer:
  numNodes: 2
  numProcPerNode: 4
  image: trainer
  command: [torchrun, train.py]
  args: ["--seed=1"]
  env: [{name: NCCL_DEBUG, value: INFO}]
  resourcesPerNode: {limits: {nvidia.com/gpu: 4}}
""",
)
# https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/rayjob-quick-start.html
RAY = document(
    "ray.io/v1",
    "RayJob",
    f"""\
entrypoint: python3 -m verl.trainer.main_ppo trainer.nnodes=2 trainer.n_gpus_per_node=8
runtimeEnvYAML: |
  env_vars:
    NCCL_DEBUG: INFO
rayClusterSpec:
  headGroupSpec: {{template: {{spec: {{containers: [{{name: head, image: verl}}]}}}}}}
  workerGroupSpecs:
    - replicas: 2
      template: {{spec: {{{POD % ("[]", "nvidia.com/gpu")}}}}}
""",
)
# https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/mpi/
MPI = document(
    "kubeflow.org/v2beta1",
    "MPIJob",
    f"""\
slotsPerWorker: 8
mpiReplicaSpecs:
  Launcher:
    replicas: 1
    template:
      spec:
        containers:
          - image: trainer
            command: [mpirun, -np, "16", python, train.py, --per_device_train_batch_size, "1"]
  Worker:
    replicas: 2
    template: {{spec: {{{POD % ("[]", "nvidia.com/gpu")}}}}}
""",
)
# https://github.com/kubernetes-sigs/lws/blob/main/docs/examples/vllm/GPU/lws.yaml
GROUP = document(
    "leaderworkerset.x-k8s.io/v1",
    "LeaderWorkerSet",
    f"""\
replicas: 3
leaderWorkerTemplate:
  size: 2
  leaderTemplate:
    spec: {{{POD % (SERVE, "nvidia.com/gpu")}}}
  workerTemplate: {{spec: {{{POD % ("[sh, -c, ray start]", "nvidia.com/gpu")}}}}}
""",
)
# https://github.com/volcano-sh/volcano/blob/master/docs/user-guide/how_to_use_pytorch_plugin.md
VOLCANO = document(
    "batch.volcano.sh/v1alpha1",
    "Job",
    f"""\
plugins: {{pytorch: ["--master=master", "--worker=worker"]}}
tasks:
  - replicas: 1
    name: master
    template: {{spec: {{{POD % (SWIFT, "huawei.com/Ascend910")}}}}}
  - replicas: 1
    name: worker
    template: {{spec: {{{POD % (SWIFT, "huawei.com/Ascend910")}}}}}
""",
)
# https://jobset.sigs.k8s.io/docs/overview/
SET = document(
    "jobset.x-k8s.io/v1alpha2",
    "JobSet",
    f"""\
replicatedJobs:
  - name: workers
    replicas: 2
    template:
      spec:
        parallelism: 4
        completions: 4
        template: {{spec: {{{POD % ("[swift, sft, --model, m]", "amd.com/gpu")}}}}}
""",
)


def launched(text):
    found, _ = script_launches(Input(kind="script", name="job.yaml", text=text), {})
    return found


def told(args):
    return {arg.name: None if arg.values is None else arg.values[-1] for arg in args}


@pytest.mark.parametrize(
    ("text", "pods", "gpus"),
    [
        (PYTORCH % 8, "4", "8"),
        (TRAIN, "2", "4"),
        (RAY, "2", "8"),
        (MPI, "2", "8"),
        (GROUP, "2", "8"),
        (VOLCANO, "2", "8"),
        (SET, "8", "8"),
    ],
)
def test_pods_of_a_job_and_gpus_of_each_are_counted(text, pods, gpus):
    (launch,) = launched(text)
    found = told(launch.container)

    assert (found["replicas"], found["gpus"]) == (pods, gpus)


@pytest.mark.parametrize(
    ("text", "launcher"),
    [
        (PYTORCH % 8, {"nnodes": "4", "nproc_per_node": "8"}),
        (PYTORCH % "auto", {"nnodes": "4", "nproc_per_node": "auto"}),
        (TRAIN, {"nnodes": "2", "nproc_per_node": "4"}),
        (MPI, {"nnodes": "2", "num_processes": "16"}),
        (SET, {}),
    ],
)
def test_what_the_operator_tells_torchrun_counts(text, launcher):
    (launch,) = launched(text)

    assert told(launch.launcher) == launcher


def test_a_world_size_of_processes_is_no_number_of_nodes():
    text = (PYTORCH % 8).replace("[torchrun, train.py, --seed, '1']", SWIFT)
    (launch,) = launched(text)

    assert {item.name: item.value for item in launch.env}["NNODES"] == "32"


def test_master_and_workers_with_ranks_of_their_own_are_one_job():
    ranked = (PYTORCH % 8).replace("--seed, '1'", "--node_rank, '0'", 1)
    found = launched(ranked)

    assert [told(launch.container)["replicas"] for launch in found] == ["4", "4"]


def test_an_elastic_job_has_no_fixed_number_of_nodes():
    policy = "  elasticPolicy: {minReplicas: 1, maxReplicas: 4}\n  pytorchReplicaSpecs"
    (launch,) = launched((PYTORCH % 8).replace("  pytorchReplicaSpecs", policy))

    assert told(launch.launcher)["nnodes"] == "1:4"


def test_what_ray_and_volcano_set_reaches_the_program():
    (ray,), (volcano,) = launched(RAY), launched(VOLCANO)

    assert {item.name: item.value for item in ray.env} == {"NCCL_DEBUG": "INFO"}
    assert {item.name: item.value for item in volcano.env}["NNODES"] == "2"


def test_replicas_of_a_server_are_copies_of_it():
    text = document(
        "apps/v1",
        "Deployment",
        f"replicas: 3\ntemplate: {{spec: {{{POD % ('[vllm, serve, m]', 'nvidia.com/gpu')}}}}}",
    )
    (launch,) = launched(text)

    assert "replicas" not in told(launch.container)


def test_a_list_printed_as_json_is_read():
    pod = '{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"command": ["swift", "sft"'
    (launch,) = launched(
        '{\n  "apiVersion": "v1",\n  "items": [\n' + pod + ', "--model", "m"]}]}}\n  ],\n'
        '  "kind": "List"\n}\n'
    )

    assert (launch.command, launch.origin.line) == ("sft", 4)


MAPPED = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - image: trainer
      command: [bash, /scripts/run.sh]
      envFrom: [{configMapRef: {name: files}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: files}
data:
  MAX_PIXELS: "1003520"
  run.sh: |
    cd /work
    deepspeed train.py --deepspeed /scripts/ds.json --per_device_train_batch_size 1
  ds.json: |
    {"zero_optimization": {"stage": 3}}
"""


def test_a_script_in_a_config_map_is_cited_where_the_manifest_has_it():
    (launch,) = launched(MAPPED)

    assert (launch.origin.source, launch.origin.line) == ("job.yaml", 16)
    assert {arg.name: arg.origin.line for arg in launch.args}["deepspeed"] == 16
    assert [(item.name, item.value) for item in launch.env] == [("MAX_PIXELS", "1003520")]
    assert [(name, line) for name, _, line in launch.written if name == "ds.json"] == [
        ("ds.json", 18)
    ]


def test_variables_from_what_is_not_at_hand_leave_the_environment_open():
    (launch,) = launched(MAPPED.replace("configMapRef: {name: files}", "secretRef: {name: s}"))

    assert not launch.env_complete


def test_variables_are_filled_into_those_below_them():
    env = (
        "[{name: A, value: x}, {name: B, value: $(A)-$(C)}, {name: C, valueFrom: {}},"
        " {name: D, value: y$(C)}]"
    )
    text = f"containers: [{{image: trainer, command: [swift, sft, --model, m], env: {env}}}]"
    (launch,) = launched(document("v1", "Pod", text))

    assert {item.name: item.value for item in launch.env} == {
        "A": "x",
        "B": "x-$(C)",
        "C": None,
        "D": None,
    }


# https://argo-workflows.readthedocs.io/en/latest/workflow-inputs/
def test_parameters_of_a_workflow_are_filled_in_where_they_are_known():
    (launch,) = launched(
        document(
            "argoproj.io/v1alpha1",
            "Workflow",
            """\
arguments: {parameters: [{name: lr, value: 1e-4}]}
templates:
  - container:
      image: trainer
      command: [swift, sft, --lr, "{{workflow.parameters.lr}}"]
      args: [--model, "{{inputs.parameters.the-model}}", --seed, "1"]
""",
        )
    )

    assert told(launch.args) == {"lr": "1e-4", "model": None, "seed": "1"}


KEYS = st.from_regex(
    r"(?:spec|template|containers|command|args|env|name|value|replicas|parallelism|trainer|numNodes"
    r"|entrypoint|rayClusterSpec|headGroupSpec|workerGroupSpecs|mpiReplicaSpecs|Launcher|Worker"
    r"|tasks|pytorchReplicaSpecs|elasticPolicy|leaderWorkerTemplate|size|resources|limits|memory"
    r"|volumes|volumeMounts|mountPath|emptyDir|sizeLimit|nodeSelector|envFrom|configMapRef|data"
    r"|items|run|services|image|environment|deploy|extends|plugins|hostIPC|runtimeEnvYAML|<<)",
    fullmatch=True,
)
SCALARS = st.sampled_from(
    ["torchrun", "train.py", "8", "", "-1", "1e9", "swift sft --lr 1", "a: ["]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
KINDS = st.from_regex(
    r"(?:Pod|(?:PyTorch|Train|Ray|MPI)?Job|LeaderWorkerSet|JobSet|ConfigMap|List)", fullmatch=True
)


@given(KINDS, VALUES, VALUES)
def test_no_field_of_any_type_raises(kind, spec, more):
    text = yaml.safe_dump({"apiVersion": "v1", "kind": kind, "spec": spec, "items": more})
    tasks = yaml.safe_dump({"services": {"a": spec, "b": more}, "run": "|", "envs": more})

    for part in (*read_manifest(text, "a.yaml"), *read_manifest(tasks, "b.yaml")):
        assert part.nodes >= 1
    assert all(item.origin.source == "a.yaml" for item in launched_as("a.yaml", text))


def launched_as(name, text):
    return script_launches(Input(kind="script", name=name, text=text), {})[0]
