"""`python -m elbowroom`: the command, also where the environment's programs are not on PATH."""

from elbowroom.command import main

main()
