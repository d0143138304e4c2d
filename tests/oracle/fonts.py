"""Makes TrueType fonts of a few glyphs, so that what is expected of a font hangs on no machine's fonts."""
import struct

EM = 1000


def glyph(contours):
    """contours: lists of (x, y, on the curve). All coordinates as words."""
    if not contours:
        return b""
    points = [p for contour in contours for p in contour]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    out = struct.pack(">hhhhh", len(contours), min(xs), min(ys), max(xs), max(ys))
    last = -1
    for contour in contours:
        last += len(contour)
        out += struct.pack(">H", last)
    out += struct.pack(">H", 0) + bytes(p[2] for p in points)
    for axis in (0, 1):
        before = 0
        for p in points:
            out += struct.pack(">h", p[axis] - before)
            before = p[axis]
    return out + b"\0" * (-len(out) % 4)


def cmap(codes):
    """Format 12: a group a character."""
    groups = b"".join(struct.pack(">III", code, code, index + 1) for index, code in enumerate(codes))
    table = struct.pack(">HHIII", 12, 0, 16 + len(groups), 0, len(codes)) + groups
    return struct.pack(">HHHHI", 0, 1, 3, 10, 12) + table


def font(glyphs, ascender=800, descender=-200):
    """glyphs: {character: (advance, contours)}; what the font lacks is a frame 500 wide."""
    codes = sorted(map(ord, glyphs))
    frame = (500, [[(50, 0, 1), (50, 700, 1), (450, 700, 1), (450, 0, 1)]])
    all_glyphs = [frame] + [glyphs[chr(code)] for code in codes]
    data, offsets = b"", [0]
    for _, contours in all_glyphs:
        data += glyph(contours)
        offsets.append(len(data))
    count = len(all_glyphs)
    lowest = [min((p[0] for c in contours for p in c), default=0) for _, contours in all_glyphs]
    tables = {
        b"cmap": cmap(codes),
        b"glyf": data or b"\0",
        b"head": struct.pack(">IIIIHHQQhhhhHHhhh", 0x10000, 0, 0, 0x5F0F3CF5, 0, EM, 0, 0, 0, descender, EM, ascender,
                             0, 8, 2, 1, 0),
        b"hhea": struct.pack(">IhhhHhhhhhhhhhhhH", 0x10000, ascender, descender, 0, EM, 0, 0, EM, 1, 0, 0, 0, 0, 0, 0,
                             0, count),
        b"hmtx": b"".join(struct.pack(">Hh", g[0], low) for g, low in zip(all_glyphs, lowest)),
        b"loca": b"".join(struct.pack(">I", offset) for offset in offsets),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", 0x10000, count, 100, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    }
    head = struct.pack(">IHHHH", 0x10000, len(tables), 64, 2, 16 * len(tables) - 64)
    at = len(head) + 16 * len(tables)
    body = b""
    for tag, table in tables.items():
        padded = table + b"\0" * (-len(table) % 4)
        total = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        head += tag + struct.pack(">III", total, at + len(body), len(table))
        body += padded
    return head + body
