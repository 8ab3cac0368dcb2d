"""`python -m webtools` is the command `webtools`."""

from webtools.cli import command

if __name__ == "__main__":
    command()
