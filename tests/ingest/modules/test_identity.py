"""A program keeps its name from run to run, whatever the framework adds to it.

The names are those of real dumps: JAX 0.10.2 and libtpu, TensorFlow 2.13 and 2.21,
PyTorch/XLA 2.9.
"""

from __future__ import annotations

import pytest

from hlodb.ingest.modules.identity import program_name

HOW = (
    "__XlaMustCompile_true_config_proto_13561319589895757934_executor_type"
    "_11160318154034397263_"
)


@pytest.mark.parametrize(
    ("module", "program"),
    [
        ("jit_step", "jit_step"),
        ("jit_step.12", "jit_step"),
        ("jit_step.cl_933746096", "jit_step"),
        ("jit__lambda_", "jit__lambda"),
        ("SyncTensorsGraph.258", "SyncTensorsGraph"),
        (f"a_inference_step_68{HOW}.5", "inference_step"),
        (f"a_inference_step_78{HOW}.5", "inference_step"),
        (f"a_forward_layer_2_27{HOW}.1", "forward_layer_2"),
        (f"a_inference___backward_layer_2_17_28{HOW}.1", "backward_layer_2"),
        (f"a_inference___call___93{HOW}.1", "inference___call__"),
        (f"a_inference__lambda__112{HOW}.1", "inference__lambda_"),
        ("a_inference_one_step_on_data_3180__.23", "inference_one_step_on_data"),
        (
            "cluster_0__XlaCompiledKernel_true__XlaHasReferenceVars_false"
            "__XlaNumConstantArgs_0__XlaNumResourceArgs_0_.1",
            "cluster",
        ),
        # Not TensorFlow's, though alike.
        ("jit_a_inference_step_68", "jit_a_inference_step_68"),
        ("jit_cluster_0", "jit_cluster_0"),
        ("cluster_0", "cluster_0"),
        ("a_inference_step", "a_inference_step"),
        ("a_3", "a_3"),
        # Nothing would be left.
        ("_", "_"),
        ("__XlaMustCompile_true_", "__XlaMustCompile_true_"),
    ],
)
def test_the_name_of_a_program(module: str, program: str) -> None:
    assert program_name(module) == program
