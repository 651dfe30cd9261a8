"""What the engine says to people, in their own language.

The engine, its journal and what the model reads are English. At the border, what leaves for a
person is recognised by its template and said in the language that the person's editor asked for.
Invariant: light to import; a catalogue is read when somebody first needs it, never for English.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kova_ls.l10n.catalogue import Catalogue


class Language(StrEnum):
    """The languages there are."""

    ENGLISH = "en"
    CHINESE = "zh-cn"


_TRADITIONAL = frozenset({"hant", "tw", "hk", "mo"})
"""Of whose readers we know only that they read other signs: they get English, as from VS Code."""


def language_of(locale: object) -> Language:
    """Return the language for a locale such as `zh-cn`, `zh-Hans-SG` or `zh_CN.UTF-8`."""
    if not isinstance(locale, str):
        return Language.ENGLISH
    name = locale.strip().partition(".")[0].partition("@")[0]
    tongue, *rest = name.lower().replace("_", "-").split("-")
    if tongue != "zh" or ("hans" not in rest and not _TRADITIONAL.isdisjoint(rest)):
        return Language.ENGLISH
    return Language.CHINESE


def language_of_env(env: Mapping[str, str]) -> Language:
    """Return the language that an environment asks messages to be in."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return language_of(next((env[name] for name in names if env.get(name)), None))


def say(text: str, language: Language) -> str:
    """Return one of our texts in a language; a text that is not ours comes back as it is."""
    if language is Language.ENGLISH:
        return text
    return _catalogue(language).say(text)


@cache
def _catalogue(language: Language) -> "Catalogue":
    from kova_ls.l10n.catalogue import load

    return load(language.value)
