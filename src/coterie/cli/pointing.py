"""Commands and options that people try, and what they are called here."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from typer.core import TyperGroup

from coterie import _habits
from coterie.cli import COMMANDS


class PointingGroup(TyperGroup):
    """The commands; a wrong command or option is answered with the right one, if it is known."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, or say which one was probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            if type(error).__name__ == "UsageError":  # of click, or of the click within typer
                error.message = _no_command(args) or error.message  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an option of another tool is answered with ours."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            option = str(getattr(error, "option_name", ""))
            said = _habits.on_the_command_line(option)
            if said and type(error).__name__ == "NoSuchOption":
                error.message = f"No such option: {option}. {said}"  # type: ignore[attr-defined]
                error.possibilities = None  # type: ignore[attr-defined]
            raise


def _no_command(args: list[str]) -> str:
    name = args[0]
    rest = " ".join(args)
    if Path(name).exists() or Path(name).suffix or name == "-":
        return f"{name!r} is not a command. Did you mean: coterie fit {rest}"
    others = {"cluster": "fit", "run": "fit", "train": "fit", "apply": "predict", "show": "info"}
    close = difflib.get_close_matches(name, COMMANDS, 1, 0.6)
    to = others.get(name) or (close[0] if close else "")
    return (
        f"No such command {name!r}. Did you mean: coterie {' '.join([to, *args[1:]])}" if to else ""
    )
