"""Writes cache entries as the text that XLA writes of executables and messages.

    pip download --no-deps tensorflow-cpu==2.21.0
    unzip tensorflow_cpu-*.whl 'tensorflow/compiler/xla/*_pb2.py'
    pip install protobuf zstandard
    python make_text.py as-text.tar.xz jaxlib-0.10.2.tar.xz h100-jaxlib-0.10.2.tar.xz \\
        v5e-jax-0.10.2.tar.xz

Messages and their text are TensorFlow's, whose schema is XLA's own. In the archive each
text has the name of its entry.
"""

from __future__ import annotations

import io
import sys
import tarfile
import textwrap
import zlib
from pathlib import Path
from typing import Any

import zstandard
from google.protobuf import text_format

from hlodb.ingest.formats.proto.executable import hlo_of_executable

ZSTD = b"\x28\xb5\x2f\xfd"
CONFIG = 'config {\n  seed: 42\n  debug_options {\n    xla_dump_to: "/data"\n  }\n}\n'
FORMS = {
    "cpu": (
        "cpu_executable {{\n  hlo_module {{\n{0}{1}  }}\n{2}"
        "  obj_files_kind: KERNELS\n}}\n"
    ),
    "gpu": (
        "gpu_executable {{\n  hlo_module_with_config {{\n{0}{1}  }}\n{2}"
        '  binary: "\\177ELF\\002"\n}}\n'
    ),
}


def as_text(entry: bytes) -> str:
    """Return an entry of CPUs and GPUs as an executable, of TPUs as an HloProto."""
    from tensorflow.compiler.xla.service import hlo_pb2

    if entry[:4] == ZSTD:
        data = zstandard.ZstdDecompressor().decompressobj().decompress(entry)
    else:
        data = zlib.decompress(entry)
    found = hlo_of_executable(data)
    assert found is not None
    message = hlo_pb2.HloProto.FromString(found.hlo)
    if found.platform not in FORMS:
        return printed(message)
    return FORMS[found.platform].format(
        textwrap.indent(f"hlo_module {{\n{indented(message.hlo_module)}}}\n", "    "),
        textwrap.indent(CONFIG, "    "),
        textwrap.indent(
            f"buffer_assignment {{\n{indented(message.buffer_assignment)}}}\n", "  "
        ),
    )


def indented(message: Any) -> str:
    return textwrap.indent(printed(message), "  ")


def printed(message: Any) -> str:
    return text_format.MessageToString(message, print_unknown_fields=True)


def main(target: str, sources: list[str]) -> None:
    with tarfile.open(target, "w:xz") as packed:
        for source in sources:
            with tarfile.open(source) as entries:
                for member in entries.getmembers():
                    entry = entries.extractfile(member)
                    if entry is None or not member.name.startswith("cache/"):
                        continue
                    data = as_text(entry.read()).encode()
                    stem = Path(source).name.partition("-")[0]
                    program = Path(member.name).name.partition("-")[0]
                    info = tarfile.TarInfo(f"{stem}/{program}.txtpb")
                    info.size = len(data)
                    packed.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
