"""`python -m varichain`: the command line."""

from varichain.cli.app import main

if __name__ == "__main__":
    main()
