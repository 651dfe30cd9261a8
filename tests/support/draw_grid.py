"""Draw a Neovim screen as a PNG, for the README: needs Pillow and the DejaVu fonts.

Run by hand: `python -m tests.support.draw_grid SCREEN.json PICTURE.png`, where the first file is
what `Grid.dump` gave.
"""

import json
import sys
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont  # pyright: ignore[reportMissingImports]

FONTS = Path("/usr/share/fonts/truetype/dejavu")
SIZE = 15
CELL = (9, 19)
MARGIN = 14


def font(name: str) -> Any:
    return ImageFont.truetype(str(FONTS / name), SIZE)


def draw(screen: dict[str, Any]) -> Any:
    """The picture of a dumped screen."""
    plain, bold = font("DejaVuSansMono.ttf"), font("DejaVuSansMono-Bold.ttf")
    italic, fallback = font("DejaVuSansMono-Oblique.ttf"), font("DejaVuSans.ttf")
    has = {ord(char) for char in screen["chars"] if plain.getmask(char).getbbox()}
    rows = screen["rows"]
    width = max(map(len, rows)) * CELL[0] + 2 * MARGIN
    picture = Image.new("RGB", (width, len(rows) * CELL[1] + 2 * MARGIN), screen["background"])
    pen = ImageDraw.Draw(picture)
    for y, row in enumerate(rows):
        for x, (char, fg, bg, style) in enumerate(row):
            left, top = MARGIN + x * CELL[0], MARGIN + y * CELL[1]
            pen.rectangle((left, top, left + CELL[0] - 1, top + CELL[1] - 1), fill=bg)
            if char.strip():
                face = bold if "b" in style else italic if "i" in style else plain
                if ord(char[0]) > 0x7F and ord(char[0]) not in has:
                    face = fallback
                pen.text((left, top + 1), char, font=face, fill=fg)
            if "u" in style:
                pen.line((left, top + 16, left + CELL[0], top + 16), fill=fg)
    return picture


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text())).quantize(48).save(sys.argv[2], optimize=True)
