"""Read and replace files without following links, in the form they have.

Invariant: no link is followed between a resolved path and its file, not even a fresh one.
Invariant: a failed write leaves the file as it was.

A write goes to a new file that takes the old one's place, so the other names of a hard-linked
file keep the old text: no verdict was given for them.
"""

import codecs
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from secrets import token_hex

from kova_ls.tools._base import Moved, TextFile, ToolError
from kova_ls.tools._text import digest, line_ends

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and bool(_NO_FOLLOW)
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NO_FOLLOW
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNSIZED_BYTES = 1 << 20
"""Read of a file without a size, such as those of /proc; the buffer is made beforehand."""
_IMAGES = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a bitmap image"),
)


# -- forms ---------------------------------------------------------------------------


def decode(data: bytes, name: str) -> TextFile:
    """Return the text of a file's bytes; what is no UTF and no binary reads as Latin-1.

    Raises: ToolError for a binary, saying what to do with it.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                text = data[len(bom) :].decode(encoding)
            except UnicodeDecodeError:
                raise ToolError(_binary(data, name)) from None
            return TextFile(text, encoding, has_bom=True, source="disk", digest=digest(text))
    if b"\0" in data:
        raise ToolError(_binary(data, name))
    try:
        text, encoding = data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        controls = sum(byte < 32 and byte not in b"\t\n\r\f\b\x1b" for byte in data[:8_192])
        if any(data.startswith(magic) for magic, _ in _IMAGES) or controls * 50 > len(data[:8_192]):
            raise ToolError(_binary(data, name)) from None
        text, encoding = data.decode("latin-1"), "latin-1"
    return TextFile(text, encoding, has_bom=False, source="disk", digest=digest(text))


def encode(text: str, like: TextFile | None, name: str) -> bytes:
    """Return the bytes of a text in the form of `like`. Raises: ToolError if it does not fit."""
    encoding = like.encoding if like else "utf-8"
    bom = b""
    if like is not None and like.has_bom:
        bom = next(mark for mark, codec in _BOMS if codec == encoding)
    try:
        return bom + text.encode(encoding)
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{name} is stored as {encoding}, which has no {text[error.start]!r}; nothing was "
            "written. Use other characters, or convert the file to UTF-8 first (iconv in bash)."
        ) from None


def fitting_encodings(data: bytes) -> tuple[str, ...]:
    """Return the usual encodings that bytes which are no UTF-8 can be read in; none for UTF-8."""
    fitting: list[str] = []
    for encoding in ("utf-8", "shift_jis", "gb18030", "big5", "euc_kr", "cp1252", "latin-1"):
        with suppress(UnicodeDecodeError):
            data.decode(encoding)
            fitting.append(encoding)
            if encoding == "utf-8":
                return ()
    return tuple(fitting)


def is_same_text(disk: str, shown: str) -> bool:
    """Say whether texts are the same; line ends and a last newline are the editor's affair."""
    return disk == shown or _bare(disk) == _bare(shown)


def in_form_of(text: str, old: str, shown: str) -> str:
    """Return `text`, which was made from `old`, in the form in which an editor shows `old`."""
    if old == shown or not is_same_text(old, shown):
        return text
    ends = line_ends(shown)
    if ends != line_ends(old) and "\n" in shown and ends != "mixed":
        text = text.replace("\r\n", "\n")
        text = text.replace("\n", "\r\n") if ends == "CRLF" else text
    if shown.endswith("\n") and not old.endswith("\n") and not text.endswith("\n"):
        text += "\r\n" if ends == "CRLF" else "\n"
    return text


def _bare(text: str) -> str:
    return text.replace("\r\n", "\n").removesuffix("\n")


def _binary(data: bytes, name: str) -> str:
    for magic, kind in _IMAGES:
        if data.startswith(magic):
            return f"{name} is {kind}, not text: use ReadMediaFile to look at it."
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return f"{name} is a WebP image, not text: use ReadMediaFile to look at it."
    if data[4:8] == b"ftyp" or data.startswith(b"\x1aE\xdf\xa3"):
        return f"{name} is a video, not text: use ReadMediaFile to look at it."
    if data.startswith(b"%PDF"):
        return f"{name} is a PDF, not text: convert it in bash first, for example with pdftotext."
    return f"{name} is a binary file, not text: look into it in bash, for example with file or xxd."


# -- disk -------------------------------------------------------------------------------------


@contextmanager
def _folder_of(path: str, *, is_made: bool = False) -> Generator[tuple[int | None, str]]:
    """Yield (folder descriptor, name) reached without following any link."""
    if not _BY_FOLDER:
        if is_made:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        yield None, path
        return
    *folders, name = path.split(os.sep)[1:]
    handle = os.open(os.sep, _FOLDER_FLAGS)
    try:
        for folder in folders:
            try:
                inner = os.open(folder, _FOLDER_FLAGS, dir_fd=handle)
            except FileNotFoundError:
                if not is_made:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=handle)
                inner = os.open(folder, _FOLDER_FLAGS, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, name or "."
    finally:
        os.close(handle)


def read(path: str, max_bytes: int, name: str) -> bytes:
    """Return a regular file's bytes; `name` is what messages call it. Raises: ToolError."""
    try:
        with _folder_of(path) as (folder, last):
            handle = os.open(
                last, os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0), dir_fd=folder
            )
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(handle)
            raise ToolError(_no_regular(found.st_mode, name))
        with open(handle, "rb", buffering=0) as file:
            if found.st_size > max_bytes:
                raise ToolError(
                    f"{name} has {found.st_size:,} bytes, more than the {max_bytes:,} that can be "
                    "read at once: use grep, or head, tail or sed in bash."
                )
            return file.read() if found.st_size else file.read(min(max_bytes, _UNSIZED_BYTES))
    except OSError as error:
        raise ToolError(_why(error, path, name, "read")) from None


def replace_text(
    path: str, text: str, like: TextFile | None, name: str, permissions: int | None = None
) -> tuple[str, bool]:
    """Write, and return the text that stood there and whether the file is new.

    A new file gets the `permissions`; one that stood there keeps its own.
    Raises: ToolError; the file is then as it was.
    """
    data = encode(text, like, name)
    temporary = f".{os.path.basename(path)[:100]}.{token_hex(6)}.kova"
    try:
        with _folder_of(path, is_made=True) as (folder, last):
            if folder is None:
                temporary = os.path.join(os.path.dirname(path), temporary)
            mode, old, is_new = _standing(folder, last, path, like, name)
            _write_new(temporary, folder, data, mode, permissions)
            try:
                # Checked again at the last moment: a file that came or changed meanwhile stays.
                again = _standing(folder, last, path, like, name)
                if again[2] != is_new:
                    raise Moved(moved(name))
                os.replace(temporary, last, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
            return old, is_new
    except OSError as error:
        raise ToolError(_why(error, path, name, "written")) from None


def remove_text(path: str, text: str, name: str) -> None:
    """Delete a file that holds exactly this text. Raises: ToolError; it is then as it was."""
    try:
        with _folder_of(path) as (folder, last):
            _, old, is_gone = _standing(folder, last, path, None, name)
            if is_gone or old != text:
                raise Moved(moved(name))
            os.unlink(last, dir_fd=folder)
    except OSError as error:
        raise ToolError(_why(error, path, name, "deleted")) from None


def _standing(
    folder: int | None, last: str, path: str, like: TextFile | None, name: str
) -> tuple[os.stat_result | None, str, bool]:
    """Return what stands at the place: its stat, its text, whether nothing does."""
    try:
        found = os.stat(last, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        if like is not None and like.text:
            raise Moved(moved(name)) from None
        return None, "", True
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(_no_regular(found.st_mode, name))
    if not found.st_mode & 0o222:
        raise ToolError(
            f"{name} is read-only; nothing was written. chmod it first if it may change."
        )
    old = decode(read(path, 1 << 40, name), name).text
    if like is not None and digest(old) != like.digest:
        raise Moved(moved(name))
    return found, old, False


def _write_new(
    name: str,
    folder: int | None,
    data: bytes,
    like: os.stat_result | None,
    permissions: int | None,
) -> None:
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o666, dir_fd=folder)
    try:
        with open(handle, "wb", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
            if like is not None:
                if (like.st_uid, like.st_gid) != (os.fstat(handle).st_uid, os.fstat(handle).st_gid):
                    with suppress(OSError):
                        os.fchown(handle, like.st_uid, like.st_gid)
                os.fchmod(handle, stat.S_IMODE(like.st_mode))
            elif permissions is not None:
                os.fchmod(handle, permissions)
            os.fsync(handle)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise


# -- words ------------------------------------------------------------------------------------


def undeclared(name: str, deed: str) -> str:
    """Return what to say of a path that the call's verdict does not cover."""
    return (
        f"This call was not judged for a {deed} of {name}; nothing was done. If a link on the way "
        "to it changed, call again."
    )


def moved(name: str) -> str:
    """Return what to say of a file that is no longer what the change was made from."""
    return f"{name} changed since it was looked at; nothing was written. Read it again, then retry."


def _no_regular(mode: int, name: str) -> str:
    if stat.S_ISLNK(mode):
        return undeclared(name, "write")
    if stat.S_ISDIR(mode):
        return f"{name} is a folder: list it with glob (path: its name, pattern: '*')."
    return f"{name} is no regular file (a pipe, socket or device) and is left alone."


def _why(error: OSError, path: str, name: str, deed: str) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{name} does not exist.{_near(path)}"
    if isinstance(error, (NotADirectoryError, FileExistsError)):
        return f"{name}: a part of the path is a file or a link, not a folder. Check the path."
    if isinstance(error, PermissionError):
        return f"{name} cannot be {deed}: permission denied by the system."
    if error.strerror and os.path.islink(path):
        return undeclared(name, "read" if deed == "read" else "write")
    return f"{name} cannot be {deed}: {error.strerror or error}. It is as it was."


def _near(path: str) -> str:
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        path, folder = folder, os.path.dirname(folder)
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    folded = {name.casefold(): name for name in names}
    close = get_close_matches(os.path.basename(path).casefold(), folded, n=3, cutoff=0.6)
    if not close:
        return " Look for it with glob."
    return f" Did you mean {', '.join(os.path.join(folder, folded[name]) for name in close)}?"
