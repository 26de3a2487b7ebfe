"""`python -m hlodb` is the command line."""

from hlodb.cli import run

if __name__ == "__main__":
    run()
