import pytest

from hlodb.ingest.sources.discover import without_secrets


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        ("https://host/a.tar.xz", "https://host/a.tar.xz"),
        ("https://user:secret@host:8080/a.zip", "https://host:8080/a.zip"),
        ("memory:///later/dump.zip", "memory:///later/dump.zip"),
        ("https://user@host/a.zip?token=x", "https://host/a.zip"),
        ("https://host/a@b.zip?x=y@z", "https://host/a@b.zip?x=y@z"),
        ("gs://bucket/night/*", "gs://bucket/night/*"),
        (
            "https://b.s3.amazonaws.com/a.zip?X-Amz-Algorithm=AWS4&X-Amz-Credential=A%2F"
            "us-east-1&X-Amz-Security-Token=T&X-Amz-Signature=abc&versionId=3",
            "https://b.s3.amazonaws.com/a.zip?X-Amz-Algorithm=AWS4&versionId=3",
        ),
        (
            "https://a.blob.net/c/a.zip?sv=2&sig=x%3D&se=4",
            "https://a.blob.net/c/a.zip?sv=2&se=4",
        ),
        (
            "https://host/get?file=a.tar.xz&token=t#part",
            "https://host/get?file=a.tar.xz#part",
        ),
    ],
)
def test_what_opens_a_door_is_left_out(url: str, stored: str) -> None:
    assert without_secrets(url) == stored
    assert without_secrets(stored) == stored
