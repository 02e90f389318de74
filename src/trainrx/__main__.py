"""`python -m trainrx`: the command line, where its script is not on the path."""

from trainrx.cli import program

if __name__ == "__main__":
    program()
