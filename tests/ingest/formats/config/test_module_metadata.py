"""Pass timings of HloModuleMetadataProto."""

from __future__ import annotations

from hlodb.ingest.formats.config.module_metadata import (
    ModuleMetadata,
    PassTiming,
    parse_module_metadata,
)

TEXT = """canonical_module_id: 42
module_group_name: "group"
original_module_id: 41
partitioned_module_ids: 43
partitioned_module_ids: 44
pass_metadata {
  pass_id: 1
  pass_name: "algsimp"
  pipeline_name: "simplification"
  dump_filenames: "module_0042.f.0001.simplification.after_algsimp.before_dce.txt"
  module_changed: true
  module_id: 42
  module_group_module_ids: 42
  module_group_module_ids: 45
  start_timestamp_usec: 1700000000000000
  end_timestamp_usec: 1700000000001500
  kv_metrics {
    key: "rewrites"
    value: 7
  }
}
pass_metadata {
  pass_id: 2
  pass_name: "dce"
  start_timestamp_usec: 5
  end_timestamp_usec: 4
}
pass_metadata {
}
"""


def test_whole_file() -> None:
    assert parse_module_metadata(TEXT) == ModuleMetadata(
        [
            PassTiming(
                pass_name="algsimp",
                pipeline_name="simplification",
                module_changed=True,
                start_timestamp_us=1_700_000_000_000_000,
                duration_us=1500,
            ),
            PassTiming("dce", None, False, 5, None),
            PassTiming(None, None, False, None, None),
        ]
    )


def test_cut_short() -> None:
    cut = parse_module_metadata(TEXT[: TEXT.index("  start_timestamp")])
    assert [timing.pass_name for timing in cut.passes] == ["algsimp"]
    assert cut.passes[0].duration_us is None
    assert [reject.message for reject in cut.rejects] == [
        "the text ends inside pass_metadata"
    ]


def test_empty() -> None:
    assert parse_module_metadata("") == ModuleMetadata()
