"""Boxes of HEIF files, taken apart and put together anew, for files that no encoder writes."""
import struct


def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def full(kind, version, *parts, flags=0):
    return box(kind, bytes([version]) + flags.to_bytes(3, "big"), *parts)


def boxes(data):
    """[(kind, body)] of boxes behind one another."""
    at, out = 0, []
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        out.append((kind, data[at + 8 : at + (size or len(data) - at)]))
        at += size or len(data) - at
    return out


def coded(data):
    """[(properties, bytes)] of the items that an encoder wrote, by their ids; properties: boxes."""
    meta = dict(boxes(dict(boxes(data))[b"meta"][4:]))
    shelf, places, out = [box(*one) for one in boxes(dict(boxes(meta[b"iprp"]))[b"ipco"])], meta[b"iloc"], {}
    assert places[0] == 0 and places[4:6] == b"\x44\x00" and dict(boxes(meta[b"iprp"]))[b"ipma"][:4] == bytes(4)
    for i in range(struct.unpack_from(">H", places, 6)[0]):  # of version 0: one extent each
        item, _, _, where, size = struct.unpack_from(">HHHII", places, 8 + 14 * i)
        out[item] = ([], data[where : where + size])
    table, at = dict(boxes(meta[b"iprp"]))[b"ipma"], 8
    for _ in range(struct.unpack_from(">I", table, 4)[0]):
        item, count = struct.unpack_from(">HB", table, at)
        out[item][0].extend(shelf[(byte & 127) - 1] for byte in table[at + 3 : at + 3 + count])
        at += 3 + count
    return [out[item] for item in sorted(out)]


def heif(items, references=b"", brand=b"avif", more=b""):
    """A file of items (type, properties, bytes), numbered from 1, of which the first is primary."""
    shelf = [one for _, properties, _ in items for one in properties]
    rows, first = b"", 1
    for i, (_, properties, _) in enumerate(items):
        rows += struct.pack(">HB", i + 1, len(properties)) + bytes(0x80 | first + k for k in range(len(properties)))
        first += len(properties)

    def head(at):
        places = b""
        for i, (_, _, data) in enumerate(items):
            places += struct.pack(">HHHII", i + 1, 0, 1, at, len(data))
            at += len(data)
        infos = [full(b"infe", 2, struct.pack(">HH4s", i + 1, 0, kind), b"\0") for i, (kind, _, _) in enumerate(items)]
        meta = full(b"meta", 0, full(b"hdlr", 0, bytes(4) + b"pict" + bytes(13)), full(b"pitm", 0, b"\0\1"),
                    full(b"iloc", 0, b"\x44\x00", struct.pack(">H", len(items)), places),
                    full(b"iinf", 0, struct.pack(">H", len(items)), *infos), references,
                    box(b"iprp", box(b"ipco", *shelf), full(b"ipma", 0, struct.pack(">I", len(items)), rows)))
        return box(b"ftyp", brand + bytes(4) + brand + b"mif1miaf") + meta + more

    data = b"".join(data for _, _, data in items)
    return head(len(head(0)) + 8) + box(b"mdat", data)


def refer(kind, source, *targets):
    """The box of references, with one."""
    return full(b"iref", 0, box(kind, struct.pack(f">HH{len(targets)}H", source, len(targets), *targets)))
