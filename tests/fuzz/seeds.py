"""Seeds and dictionaries for the targets of tests/fuzz, each a few hundred bytes: valid files of
every kind.

Usage: seeds.py FOLDER PROGRAM. Writes FOLDER/seeds/NAME/* and FOLDER/NAME.dict. PROGRAM, the built smempipe, makes the
files that need an encoder (JPEG, FLAC, OGG)."""
import gzip
import io
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import zlib

FOLDER, PROGRAM = pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]


def seed(target, name, data):
    folder = FOLDER / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def words(target, texts):
    lines = []
    for text in texts:
        data = text.encode() if isinstance(text, str) else text
        lines.append('"%s"' % "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else "\\x%02x" % b for b in data))
    (FOLDER / (target + ".dict")).write_text("\n".join(lines) + "\n")


def samples(n, step=7):
    return bytes(i * step & 255 for i in range(n))


# ------------------------------------------------------------------------------------------------ pictures


def chunk(kind, data=b""):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, color, interlace=0, extra=b""):
    bits = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    passes = [(width, height)] if not interlace else [
        ((width - x + dx - 1) // dx, (height - y + dy - 1) // dy) for x, y, dx, dy in
        ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))]
    rows = b"".join(bytes([y % 5]) + samples((w * bits + 7) // 8, y + 3) for w, h in passes if w > 0 for y in range(h))
    return (
    b"\x89PNG\r\n\x1a\n" +
    chunk(
        b"IHDR",
        struct.pack(
            ">IIBBBBB",
            width,
            height,
            depth,
            color,
            0,
            0,
            interlace)) +
            extra +
            chunk(
                b"IDAT",
                zlib.compress(rows)) +
                 chunk(b"IEND"))


def pngs():
    palette = chunk(b"PLTE", samples(48)) + chunk(b"tRNS", b"\0\x80")
    for depth, color in ((1, 0), (8, 0), (16, 0), (8, 2), (16, 2), (4, 3), (8, 4), (8, 6), (16, 6)):
        for interlace in (0, 1):
            extra = palette if color == 3 else b""
            seed("png", f"{depth}-{color}-{interlace}.png", png(9, 5, depth, color, interlace, extra))
    meta = (chunk(b"gAMA", struct.pack(">I", 45455)) + chunk(b"pHYs", struct.pack(">IIB", 2835, 2835, 1)) +
            chunk(b"tEXt", b"Title\0a") + chunk(b"sRGB", b"\0"))
    seed("png", "meta.png", png(5, 5, 8, 2, 0, meta))
    part, moves = zlib.compress(samples(14)), chunk(b"acTL", struct.pack(">II", 2, 0))
    for color in (2, 3, 6):
        first = png(5, 4, 8, color, 0, moves + (palette if color == 3 else b"") + chunk(
            b"fcTL", struct.pack(">IIIIIHHBB", 0, 5, 4, 0, 0, 1, 9, 1, 0)))[:-12]
        seed("png", f"moves-{color}.png", first + chunk(b"fcTL", struct.pack(">IIIIIHHBB", 1, 1, 2, 3, 1, 1, 9, 2, 1)) +
             chunk(b"fdAT", struct.pack(">I", 2) + part) + chunk(b"IEND"))
    words("png", ["fcTL", "fdAT", "IHDR", "IDAT", "IEND", "PLTE", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP",
          "eXIf", "iTXt", "tEXt", "zTXt", "pHYs", "acTL", "mDCV", "cLLI", b"\x89PNG\r\n\x1a\n"])
    for level in (0, 1, 9):
        pack = zlib.compressobj(level, zlib.DEFLATED, -15)
        seed("png_data", f"level{level}", pack.compress(
            b"".join(bytes([y % 5]) + samples(51, y + 1) for y in range(14))) + pack.flush())
    words("png_data", [b"\x01\x00\x00\xff\xff", b"\x03\x00", b"\x04", b"\x05"])


def npy(kind, shape, size, order="False"):
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (kind, order, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    count = 1
    for n in shape:
        count *= n
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + samples(count * size)


def npys():
    for i, (kind, size) in enumerate((("|u1", 1), ("<u2", 2), ("<f4", 4),
            (">u2", 2), ("<f8", 8), ("<f2", 2), ("|b1", 1), ("<i4", 4))):
        seed("npy", f"{i}.npy", npy(kind, ((4, 3), (4, 3, 3), (5,), (2, 3, 1))[i % 4], size))
    seed("npy", "fortran.npy", npy("|u1", (4, 3), 1, "True"))
    words("npy", ["'descr'", "'fortran_order'", "'shape'", "True", "False", "'|u1'", "'<u2'", "'<f4'",
          "'>f8'", "(1,)", "(2, 3, 4)", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00", b"\x93NUMPY\x03\x00"])


def others():
    for bits in (1, 4, 8, 16, 24, 32):
        row = (5 * bits + 31) // 32 * 4
        colors = b"".join(samples(4, i + 1) for i in range(1 << bits)) if bits <= 8 else b""
        at = 54 + len(colors)
        head = struct.pack("<2sIHHI", b"BM", at + row * 3, 0, 0, at)
        info = struct.pack("<IiiHHIIiiII", 40, 5, 3 if bits % 8 else -3, 1, bits, 0, row * 3, 0, 0, 0, 0)
        seed("pictures", f"{bits}.bmp", head + info + colors + samples(row * 3))
        info = struct.pack("<IiiHHIIiiII", 40, 5, 6, 1, bits, 0, 0, 0, 0, 0, 0) + colors + samples(row * 3 + 12)
        seed("pictures", f"{bits}.ico", struct.pack("<HHHBBBBHHII", 0, 1 + bits % 2, 1, 5, 3, 0, 0, 1, bits, len(info),
                                                    22) + info)
    for kind, bits in ((2, 24), (2, 32), (3, 8), (10, 24)):
        packed = b"".join(b"\x84" + samples(bits // 8, y + 1) for y in range(3))
        body = packed if kind > 8 else samples(15 * bits // 8)
        seed("pictures", f"{kind}-{bits}.tga", struct.pack("<BBB5xHHHHBB", 0, 0, kind, 0, 0, 5, 3, bits, 0x20) + body +
             bytes(8) + b"TRUEVISION-XFILE.\0")
    for channels, depth, mode in ((1, 8, 1), (3, 8, 3), (4, 8, 3), (3, 16, 3)):
        head = struct.pack(">4sH6xHIIHH", b"8BPS", 1, channels, 3, 5, depth, mode)
        seed("pictures", f"{channels}-{depth}.psd", head + bytes(14) + samples(channels * 15 * depth // 8))
    seed("pictures", "a.qoi", b"qoif" + struct.pack(">IIBB", 4, 2, 4, 0) + b"\xfe\1\2\3\xff\1\2\3\4\x40\x7f\xa3" +
         b"\x5a\xc2" + bytes(7) + b"\1")
    seed("pictures", "raw.ppm", b"P6\n# c\n5 3\n255\n" + samples(45))
    seed("pictures", "gray.pgm", b"P5 5 3 65535\n" + samples(30))
    seed("pictures", "text.ppm", b"P3 2 1 255 1 2 3 4 5 6\n")
    seed("pictures", "bits.pbm", b"P4 9 2\n" + samples(4))
    seed("pictures", "map.pam",
         b"P7\nWIDTH 2\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" + samples(16))
    seed("pictures", "color.pfm", b"PF\n2 2\n-1.0\n" + samples(48))
    seed("pictures", "gray.pfm", b"Pf\n2 2\n1.0\n" + samples(16))
    seed("pictures", "light.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 3\n" + samples(24))
    words("pictures", ["BM", "8BPS", "8BIM", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "PF", "Pf", "WIDTH", "HEIGHT",
          "DEPTH", "MAXVAL", "TUPLTYPE", "ENDHDR", "#?RADIANCE", "FORMAT=32-bit_rle_rgbe", "-Y ", "+X ", "EXPOSURE=",
          "TRUEVISION-XFILE.", "qoif"])


# ------------------------------------------------------------------------------------------------ sounds


def wav(kind, bits, channels, frames=20, extra=b""):
    block = channels * bits // 8
    fmt = struct.pack("<HHIIHH", kind, channels, 8000, 8000 * block, block, bits)
    body = b"WAVEfmt " + struct.pack("<I", len(fmt)) + fmt + extra + b"data" + \
                                     struct.pack("<I", frames * block) + samples(frames * block)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def id3_frame(name, body, version=4, flags=0):
    size = bytes(len(body) >> 7 * i & 127 for i in (3, 2, 1, 0)) if version == 4 else struct.pack(">I", len(body))
    return name + size + struct.pack(">H", flags) + body


def id3_tag(frames, version=4, flags=0):
    return b"ID3" + bytes([version, 0, flags]) + bytes(len(frames) >> 7 * i & 127 for i in (3, 2, 1, 0)) + frames


def tags():
    """ID3 of three versions with what is done to frames, in front of, inside and behind sounds; APEv2, ID3v1."""
    mp3 = (ROOT / "tests/data/bare.mp3").read_bytes()[:1500]
    packed = zlib.compress(b"\3" + b"long " * 30)
    four = id3_tag(
        id3_frame(b"TIT2", b"\3one\0two") + id3_frame(b"TCON", b"\0(17)(4)x") + id3_frame(b"TRCK", b"\0003/14") +
        id3_frame(b"TPE1", b"\1\xff\xfea\0\0\0\xff\xfeb\0") + id3_frame(b"TXXX", b"\2\0n\0\0\0v") +
        id3_frame(b"COMM", b"\0engd\0text") + id3_frame(b"TIPL", b"\3mix\0a\0x\0b") +
        id3_frame(b"APIC", b"\0image/png\0\3d\0\x89PNG1234") + id3_frame(b"PRIV", b"o\0\1") +
        id3_frame(b"TALB", b"\0\0\1\x17" + packed, flags=9) + id3_frame(b"TCOM", b"\0\0\0\4\3a\xff\0b", flags=3))
    three = id3_tag(id3_frame(b"TYER", b"\0002019", 3) + id3_frame(b"TDAT", b"\0002403", 3) +
                    id3_frame(b"TIT2", b"\1\xff\0\xfea\0", 3) + id3_frame(b"WXXX", b"\0d\0http://a", 3) +
                    id3_frame(b"CTOC", b"t\0\3\1c\0", 3) +
                    id3_frame(b"CHAP", b"c\0" + bytes(16) + id3_frame(b"TIT2", b"\0c", 3), 3), 3, 0x80)
    two = id3_tag(b"TT2\0\0\3\0ab" b"PIC\0\0\x0b\0PNG\3d\0\x89PNG1" b"ULT\0\0\6\0engd\0", 2)
    item = struct.pack("<II", 5, 0) + b"Title\0a\0b\0c"
    cover = struct.pack("<II", 8, 2) + b"Cover Art (Front)\0n\0\x89PNG12"
    foot = b"APETAGEX" + struct.pack("<IIII", 2000, len(item + cover) + 32, 2, 0x80000000) + bytes(8)
    old = b"TAG" + b"title".ljust(30, b"\0") + b"artist".ljust(30) + b"album".ljust(30, b"\0") + b"1999" + bytes(29) + \
        b"\7\x11"
    def box(name, body):
        return struct.pack(">I", len(body) + 8) + name + body

    def data(kind, body):
        return box(b"data", struct.pack(">II", kind, 0) + body)

    items = box(b"\xa9ART", data(1, b"a") + data(1, b"b")) + box(b"tmpo", data(21, b"\0\x78")) + \
        box(b"trkn", data(0, b"\0\0\0\3\0\x0e\0\0")) + box(b"covr", data(14, b"\x89PNG1")) + \
        box(b"----", box(b"mean", bytes(4) + b"com") + box(b"name", bytes(4) + b"X") + data(1, b"v"))
    meta = box(b"meta", bytes(4) + box(b"ilst", items))
    lines = b"\0\0\0\0\1\0\0\0\7\0\0\0TITLE=a"
    for name, body in (("4", four), ("3", three), ("2", two), ("ape", item + cover + foot + old),
                       ("mp4", box(b"ftyp", b"M4A ") + box(b"moov", box(b"udta", meta))), ("comment", lines)):
        seed("tags", name, body)
    words("tags", ["ID3", "3DI", "TIT2", "TCON", "TXXX", "APIC", "CHAP", "COMM", "TIPL", "TRCK", "APETAGEX", "TAG",
                   "moov", "udta", "meta", "ilst", "data", "----", "METADATA_BLOCK_PICTURE=", b"\xff\xfe"])
    seed("sound", "id3-4.mp3", four + mp3)
    seed("sound", "id3-3.mp3", three + two + mp3 + item + cover + foot + old)
    seed("sound", "id3.wav", wav(1, 16, 1) + b"id3 " + struct.pack("<I", len(four)) + four + bytes(len(four) & 1))
    comm = struct.pack(">HIH", 1, 20, 16) + b"\x40\x0b\xfa\0\0\0\0\0\0\0"
    body = b"AIFFCOMM" + struct.pack(">I", 18) + comm + b"SSND" + struct.pack(">III", 48, 0, 0) + samples(40) + \
        b"ID3 " + struct.pack(">I", len(two)) + two
    seed("sound", "id3.aiff", b"FORM" + struct.pack(">I", len(body)) + body)


def sounds():
    tags()
    for kind, bits, channels in ((1, 8, 1), (1, 16, 2), (1, 24, 1), (1, 32, 1), (3, 32, 2), (3, 64, 1)):
        seed("sound", f"{kind}-{bits}.wav", wav(kind, bits, channels))
    seed("sound", "list.wav",
         wav(1, 16, 1, 20, b"LIST" + struct.pack("<I", 16) + b"INFOINAM" + struct.pack("<I", 4) + b"abc\0"))
    rate = b"\x40\x0b\xfa\0\0\0\0\0\0\0"
    comm = struct.pack(">HIH", 1, 20, 16) + rate
    body = b"AIFFCOMM" + struct.pack(">I", 18) + comm + b"SSND" + struct.pack(">III", 48, 0, 0) + samples(40)
    seed("sound", "16.aiff", b"FORM" + struct.pack(">I", len(body)) + body)
    def guid(letters):
        return letters + bytes.fromhex("f3acd3118cd100c04f8edb8a")

    fmt = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    body = guid(b"wave") + guid(b"fmt ") + struct.pack("<Q", 40) + fmt
    body += guid(b"data") + struct.pack("<Q", 64) + samples(40)
    riff = b"riff" + bytes.fromhex("2e91cf11a5d628db04c10000")
    seed("sound", "16.w64", riff + struct.pack("<Q", 24 + len(body)) + body)
    desc = struct.pack(">d4sIIIII", 8000, b"lpcm", 2, 2, 1, 1, 16)
    info = struct.pack(">I", 1) + b"title\0abc\0"
    chunks = ((b"desc", desc), (b"chan", struct.pack(">III", 65536, 4, 0)), (b"info", info),
              (b"data", b"\0" * 4 + samples(40)))
    seed("sound", "16.caf", b"caff\0\1\0\0" + b"".join(n + struct.pack(">q", len(b)) + b for n, b in chunks))
    for name in ("xing", "bare"):
        seed("sound", name + ".mp3", (ROOT / "tests/data" / (name + ".mp3")).read_bytes()[:4000])
    words("sound", ["ID3", "3DI", "id3 ", "TIT2", "TCON", "TXXX", "APIC", "CHAP", "COMM", "LYRICS200", "TAG", "Xing",
          "Info", "APETAGEX", b"\xff\xfb\x90\x64",
          "RIFF", "RIFX", "RF64", "WAVE", "fmt ", "data", "fact", "LIST", "INFO", "ds64",
          "riff", "wave", "caff", "desc", "chan", "info", "lpcm",
          "FORM", "AIFF", "AIFC", "COMM", "SSND", "NONE", "sowt", "fl32", "fLaC", "OggS", b"\xfe\xff"])


# ------------------------------------------------------------------------------------------------ by the program


def made():
    source = FOLDER / "seeds" / "png" / "8-2-0.png"
    gray = FOLDER / "seeds" / "png" / "8-0-0.png"
    sound = FOLDER / "seeds" / "sound" / "1-16.wav"
    (FOLDER / "seeds" / "jpeg").mkdir(parents=True, exist_ok=True)
    for name, origin in (("jpeg/color.jpg", source), ("jpeg/gray.jpg", gray),
                         ("sound/16.flac", sound), ("sound/small.ogg", sound)):
        done = subprocess.run([PROGRAM, "run", "-e", "invert" if name < "s" else "multiply 50%", str(origin),
                               str(FOLDER / "seeds" / name), "--force"], capture_output=True, text=True, check=False)
        if done.returncode and name < "s":  # a build without libsndfile has no FLAC and OGG
            sys.exit(f"{name}: {done.stderr}")
    for name, origin, options in (("tiff/deflate.tif", source, ("--tiff-compression", "deflate")),
                                  ("sound/small.opus", sound, ("-e", "repeat times=100")),
                                  ("heif/gray.avif", gray, ())):  # a build may be without libtiff, an encoder of AV1
        (FOLDER / "seeds" / name).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([PROGRAM, "convert", str(origin), str(FOLDER / "seeds" / name), "--force", *options],
                       capture_output=True, check=False)
    words("jpeg", [bytes([0xFF, marker]) for marker in (0xD8, 0xD9, 0xDA, 0xDB, 0xC0, 0xC1, 0xC2, 0xC4,
          0xC9, 0xDD, 0xE0, 0xE1, 0xE2, 0xEE, 0xFE, 0xD0)] + ["JFIF", "Exif", "Adobe", "ICC_PROFILE"])


def files():
    """What other programs wrote, from tests/data/formats."""
    for path in sorted((ROOT / "tests" / "data" / "formats").iterdir()):
        for name, endings in (("tiff", (".tif",)), ("webp", (".webp",)), ("heif", (".heic", ".avif")),
                              ("gif", (".gif",)), ("opened", (".jxl", ".dng"))):
            if path.suffix in endings:
                seed(name, path.name, path.read_bytes())
    for name in ("tone.m4a", "film.mkv"):
        seed("av", name, (ROOT / "tests" / "data" / name).read_bytes())
    seed("av", "a.dds", b"DDS |\0\0\0" + struct.pack("<III", 0x1007, 4, 8) + bytes(56) + struct.pack(
        "<II4s", 32, 4, b"DXT1") + bytes(40) + samples(16))
    seed("av", "a.pcx", struct.pack("<BBBBHHHH", 10, 5, 1, 8, 0, 0, 4, 3) + bytes(53) + struct.pack(
        "<BH", 3, 6) + bytes(60) + b"\xc5\x11" * 18)
    seed("av", "a.ljpg", b"\xff\xd8\xff\xc4\0\x15\0\1\1" + bytes(14) + b"\0\1" + b"\xff\xc3\0\x0b\x08\0\2\0\4\1\1"
         b"\x11\0\xff\xda\0\x08\1\1\0\4\0\0\x5a\x5f\xff\xd9")
    seed("av", "a.sgi", b"\1\xda\0\1\0\2\0\3\0\2\0\1" + bytes(500) + samples(6))
    seed("av", "a.ras", struct.pack(">8I", 0x59a66a95, 4, 2, 8, 8, 2, 0, 0) + b"\x80\3\7\x80\0\1\2\3")
    seed("av", "a.xbm", b"#define a_width 9\n#define a_height 1\nstatic char a_bits[] = { 0x0f, 0x01 };\n")
    words("av", ["ftyp", "M4A ", "isom", "moov", "mvhd", "trak", "tkhd", "mdia", "mdhd", "hdlr", "soun", "minf", "stbl",
          "stsd", "mp4a", "esds", "stts", "stsc", "stsz", "stco", "co64", "udta", "ilst", "mdat", "free", "moof",
          "traf", b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67", b"\x15\x49\xa9\x66", b"\x16\x54\xae\x6b",
          b"\x1f\x43\xb6\x75", "A_AAC", "A_OPUS", "webm", "matroska"])
    box = struct.pack("<4i", 0, 0, 3, 0)
    seed("opened", "a.exr", b"\x76\x2f\x31\x01\2\0\0\0channels\0chlist\0\x13\0\0\0Y\0\2" + bytes(7) +
         b"\1\0\0\0\1\0\0\0\0compression\0compression\0\1\0\0\0\0dataWindow\0box2i\0\x10\0\0\0" + box +
         b"displayWindow\0box2i\0\x10\0\0\0" + box + b"\0" + bytes(32))
    seed("opened", "a.svg", b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="a.png"/><rect '
         b'width="5" height="5"/></svg>')
    seed("opened", "a.svgz", gzip.compress(b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', mtime=0))
    seed("opened", "a.pdf", b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]" +
         b"/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj " +
         b"trailer<</Root 1 0 R>>\n%%EOF\n")
    seed("opened", "a.j2k", b"\xff\x4f\xff\x51" + struct.pack(">HHIIIIIIIIHBBB", 41, 0, 4, 4, 0, 0, 4, 4, 0, 0, 1, 7, 1,
                                                             1) + b"\xff\xd9")
    seed("opened", "a.jxl", b"\0\0\0\x0cJXL \r\n\x87\n\0\0\0\x14ftypjxl \0\0\0\0jxl " +
         b"\0\0\0\x0ejxlc\xff\x0a\0\0\0\0")
    words("opened", ["<svg", "<use", "href=", "%PDF-", "%%EOF", "jp2h", "colr", "jp2c", "Exif", "xml ", "brob", "uuid",
          "chlist", "compression", "dataWindow", b"\xff\x4f", b"\xff\x51", b"\xff\xd9"])
    words("tiff", ["II*\0", "MM\0*", "II+\0"] + [struct.pack("<H", tag) for tag in
          (256, 257, 258, 259, 262, 273, 277, 278, 279, 284, 317, 320, 322, 323, 324, 325, 338, 339, 347, 530, 34675)])
    words("webp", ["RIFF", "WEBP", "VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP", "EXIF", "XMP ",
          b"\x9d\x01\x2a", b"\x2f"])
    words("heif", ["ftyp", "heic", "avif", "mif1", "meta", "hdlr", "pitm", "iloc", "iinf", "infe", "iref", "iprp",
          "ipco", "ipma", "ispe", "pixi", "irot", "imir", "clap", "colr", "nclx", "auxC", "hvcC", "av1C", "idat",
          "mdat", "grid", "iovl", "Exif", "mime"])
    words("gif", ["GIF87a", "GIF89a", b"\x21\xf9\x04", b"\x21\xff\x0bNETSCAPE2.0", b"\x2c", b"\x3b"])


def pipes():
    for path in sorted((ROOT / "pipelines").glob("*.pipe")):
        for how in (0, 12):
            seed("pipe", f"{path.stem}-{how}", bytes([how]) + path.read_bytes())
    names = subprocess.run([PROGRAM, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    found = set(re.findall(r"\b[a-z][a-z-]{2,15}\b", names)) | set(
        re.findall(r"[a-z_]+=", " ".join(p.read_text() for p in (ROOT / "pipelines").glob("*.pipe"))))
    words("pipe", sorted(found)[:400] + ["@input", " -> @a", "from @", "by=@", "{width/2}", "{height}", "%", "px", "dB",
          "include ", "param ", "[1 2; 3 4]", "\\\n", "# "])


def totals():
    """The totals of parts: records of kind t, each behind 8 bytes length and 8 bytes hash."""
    sound, picture = FOLDER / "seeds" / "sound" / "1-16.wav", FOLDER / "seeds" / "png" / "8-2-0.png"
    part = FOLDER / "seeds" / "part"
    for i, (pipe, path) in enumerate((("stats [5 50]", picture), ("stats", sound), ("histogram 4", picture),
                                      ("loudness", ROOT / "samples" / "chirp.wav"))):
        subprocess.run([PROGRAM, "measure", "-e", pipe, str(path), "--partial", str(part), "--force"], check=True,
                       capture_output=True)
        data = part.read_bytes()
        at = len("smempipe part 3\n")
        while at < len(data):
            length = int.from_bytes(data[at:at + 8], "little")
            record = data[at + 16:at + 16 + length]
            if record[:1] == b"t":
                seed("totals", f"{i}-{pipe.split()[0]}", record[1:])
            at += 16 + length
    part.unlink()
    words("totals", ["stats", "histogram", "loudness", bytes(8), b"\x80\x80\x01", struct.pack("<d", 50)])


def sniffs():
    """The smallest file of each kind, and with ID3 tags in front."""
    tag = b"ID3\4\0\0\0\0\0\x0a" + bytes(10)
    kinds, lines = {}, set()
    for path in sorted((FOLDER / "seeds").glob("*/*")):
        if path.parent.name not in ("pipe", "totals", "png_data", "sniff", "icc", "ptx", "sass", "records",
                                    "jpeg_scan", "work", "worker", "results", "tar"):
            kinds.setdefault(path.suffix, []).append(path.read_bytes())
    for kind, files_of_kind in sorted(kinds.items()):
        least = min(files_of_kind, key=len)
        seed("sniff", "plain" + kind, least)
        seed("sniff", "tagged" + kind, tag + least)
    for name in ("png", "jpeg", "npy", "pictures", "sound", "tags", "tiff", "webp", "heif", "gif", "av"):
        lines.update((FOLDER / (name + ".dict")).read_text().splitlines())
    (FOLDER / "sniff.dict").write_text("\n".join(sorted(lines)) + "\n")


# ------------------------------------------------------------------------------------------------ profiles, kernels


def icc(kind, tags):
    """A profile: its colour space, and tags by name."""
    table, body, at = b"", b"", 132 + 12 * len(tags)
    for name, data in tags:
        table += name.encode() + struct.pack(">II", at + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    size = 128 + 4 + len(table) + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"lcms", 0x04300000, b"mntr", kind.encode(), b"XYZ ") + bytes(12) + b"acsp"
    return head + bytes(128 - len(head)) + struct.pack(">I", len(tags)) + table + body


def profiles():
    def xyz(x, y, z):
        return b"XYZ " + bytes(4) + struct.pack(">iii", *(round(v * 65536) for v in (x, y, z)))

    def para(kind, *values):
        return b"para" + bytes(4) + struct.pack(">HH", kind, 0) + b"".join(
            struct.pack(">i", round(v * 65536)) for v in values)
    curves = {"gamma": b"curv" + bytes(4) + struct.pack(">IH", 1, 563),
              "line": b"curv" + bytes(4) + struct.pack(">I", 0),
              "points": b"curv" + bytes(4) + struct.pack(">I5H", 5, 0, 9000, 20000, 40000, 65535),
              "para0": para(0, 2.2), "para1": para(1, 2.2, 1, 0), "para2": para(2, 2.2, 1, 0, 0),
              "para3": para(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045),
              "para4": para(4, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045, 0, 0)}
    columns = [("rXYZ", xyz(0.436, 0.222, 0.014)), ("gXYZ", xyz(0.385, 0.717, 0.097)),
               ("bXYZ", xyz(0.143, 0.061, 0.714))]
    for name, curve in curves.items():
        seed("icc", name + ".icc", icc("RGB ", columns + [(t, curve) for t in ("rTRC", "gTRC", "bTRC")]))
    seed("icc", "gray.icc", icc("GRAY", [("wtpt", xyz(0.964, 1, 0.825)), ("kTRC", curves["gamma"])]))
    words("icc", ["acsp", "RGB ", "GRAY", "CMYK", "XYZ ", "curv", "para", "rTRC", "gTRC", "bTRC", "kTRC", "rXYZ",
          "gXYZ", "bXYZ", "A2B0", "wtpt", "chad", "mft2"])


def cubin(name, symbols=("op", "v", "k", "vprintf")):
    """An ELF file of 64 bits as ptxas makes them: attributes, shared memory and constants of the kernel `name`."""
    def attribute(kind, data):
        return struct.pack("<BBH", 4, kind, len(data)) + data
    strings, symbol_table = b"\0", bytes(24)
    for i, symbol in enumerate(symbols):
        symbol_table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1 + i, 4 * i, 8)
        strings += symbol.encode() + b"\0"
    whole = attribute(0x11, struct.pack("<II", 1, 32)) + attribute(0x12, struct.pack("<II", 1, 64))
    own = (attribute(0x0a, struct.pack("<IHH", 1, 0x210, 16)) +
           attribute(0x17, struct.pack("<IHHI", 0, 0, 0, 8 << 18)) +
           attribute(0x17, struct.pack("<IHHI", 0, 1, 8, 4 << 18)))
    rela = struct.pack("<QQq", 8, 2 << 32 | 2, 4) + struct.pack("<QQq", 16, 4 << 32 | 2, 0)
    sections = [("", 0, b"", 0, 0, 0), (".nv.info", 0x70000000, whole, 0, 0, 0),
                (".nv.info." + name, 0x70000000, own, 0, 0, 0), (".nv.global", 1, bytes(64), 3, 0, 0),
                (".nv.shared." + name, 8, 4096, 3, 0, 0), (".nv.constant3", 1, samples(64), 2, 0, 0),
                (".nv.constant4", 1, samples(40), 2, 0, 0), (".rela.nv.constant4", 4, rela, 0, 8, 6),
                (".symtab", 2, symbol_table, 0, 9, 0), (".strtab", 3, strings, 0, 0, 0)]
    names = b"\0"
    table, body, at = b"", b"", 64
    for title, kind, data, flags, link, info in sections + [(".shstrtab", 3, None, 0, 0, 0)]:
        start = len(names) if title else 0
        names += title.encode() + b"\0" if title else b""
        data = names if data is None else data
        size = data if isinstance(data, int) else len(data)
        table += struct.pack("<IIQQQQIIQQ", start, kind, flags, 0, at + len(body), size, link, info, 4, 0)
        body += b"" if isinstance(data, int) else data + bytes(-len(data) % 8)
    head = b"\x7fELF\2\1\1\x33\7" + bytes(7) + struct.pack(
        "<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, at + len(body), 0x5a055a, 64, 0, 0, 64, len(sections) + 1, len(sections))
    return head + body + table


def kernels():
    for name in ("transpose", "bugs", "calls"):
        text = (ROOT / "tests/lab" / (name + ".ptx")).read_text()
        for i, entry in enumerate(re.findall(r"(?:\.visible )?\.(?:entry|func).*?\n}", text, re.S)[:12]):
            if len(entry) < 6000:
                seed("ptx", f"{name}{i}.ptx", b".version 8.0\n.target sm_90\n.address_size 64\n" + entry.encode())
    code = "".join((ROOT / "tests/warp" / name).read_text()
                   for name in ("ptx_instructions.c", "lab.c", "warp_order.c", "warp_barriers.c"))
    bodies = [re.sub(r"\\n|\\t", "\n", body) for body in re.findall(r'\{"([a-z@.{][^"]*;)"', code)]
    assert len(bodies) > 100, "the tables of PTX instructions lie elsewhere"
    frame = (".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry op(.param .u64 p0)\n{\n"
             ".reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %d<8>;\n.shared .align 8 .b32 s[128];\n"
             "ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d0, %d1;\n"
             "ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+128]; mov.u32 %r3, s;\n")
    for i in range(0, len(bodies), 4):
        body = "\n".join(bodies[i:i + 4])
        seed("ptx", f"rows{i}.ptx", f"{frame}{body}\nst.global.u32 [%d1], %r4;\nret;\n}}\n".encode())
    for i, bound in enumerate((".maxntid 1, 1, 4294967295", ".reqntid 65536, 65536, 1")):
        seed("ptx", f"block{i}.ptx", f".version 8.0\n.target sm_90\n.entry k(){bound}\n{{\nret;\n}}\n".encode())
    opcodes = sorted(set(re.findall(r'"([a-z][a-z0-9_.]{1,20})"', "".join(
        p.read_text() for p in (ROOT / "src/lab/ptx").glob("*.c")))))
    words("ptx", opcodes[:440] + [".reg ", ".shared ", ".align 4 ", ".b8 ", "%r<8>;", "@%p1 ", "{", "}",
          ".param .u64 p", "[%rd1+4]", ".loc 1 2 3", "bra $L;"])
    cases = re.findall(r'\{"([A-Z][^"]*)"', (ROOT / "tests/warp/sass.c").read_text())
    assert len(cases) > 100, "the tables of SASS instructions lie elsewhere"
    frame = ("\t.target\tsm_90\n\t.section\t.text.op,\"ax\",@progbits\nop:\n"
             "/**/ S2R R0, SR_LANEID ;\n/**/ LDC.64 R8, c[0x0][0x210] ;\n%s\n/**/ EXIT ;\n")
    for i in range(0, len(cases), 4):
        lines = [line for case in cases[i:i + 4] for line in case.split(";") if line.strip()]
        text = (frame % "\n".join(f"/**/ {line.strip()} ;" for line in lines)).encode()
        for size in {len(text), len(text) & ~1 | 1}:  # the lowest bit says whether there is PTX
            text += b"\n" * (size - len(text)) if size > len(text) else b""
            seed("sass", f"{i}-{size & 1}", struct.pack("<H", size) + text[:size] + (cubin("op") if i % 8 else b""))
    words("sass", sorted({word for case in cases for word in re.findall(r"[A-Z][A-Z0-9.]+", case)})[:400] +
          [".nv.info", ".nv.info.op", ".nv.shared.op", ".nv.constant3", ".nv.constant4", "desc[UR4][R2.64]",
           "c[0x0][0x210]", "@!P0 ", "BSSY B0, `(.L_x_0)", ".L_x_0:", "BSYNC B0", "EXIT", ".section\t.text.op"])


def records():
    """Files of work: a list, parts of measurements, a journal."""
    folder = FOLDER / "seeds" / "work"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "in").mkdir(parents=True)
    for name in ("8-2-0.png", "8-0-0.png", "16-2-0.png"):
        shutil.copy(FOLDER / "seeds" / "png" / name, folder / "in" / name)

    def run(*arguments):
        subprocess.run([PROGRAM, *arguments], cwd=folder, check=True, capture_output=True)
    run("list", "in", "-o", "a.list")
    run("list", "in", "-o", "b.list", "--piece-files", "1")
    run("measure", "-e", "stats", "in", "--partial", "a.part")
    run("measure", "-e", "histogram 4", "in", "-t", "--shard", "1/2", "--partial", "b.part")
    run("batch", "-e", "invert", "in", "-o", "out", "--device", "cpu")
    kinds = {".list": 0, ".part": 1}
    for path in sorted(folder.glob("*.*")):
        seed("records", path.name, bytes([kinds[path.suffix]]) + path.read_bytes())
    seed("records", "journal", b"\2" + (folder / "out" / ".smempipe-journal").read_bytes())
    shutil.rmtree(folder)
    words("records", ["smempipe list 2\n", "smempipe part 3\n", "smempipe journal", "done ", "begun ", "run ", "\\n",
          "../", "l12 ", "=34 ", "\n"])


def answers():
    """What decoders say: which message, and changes to it (fuzz_worker.c)."""
    ends = (0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)
    for kind in range(16):
        seed("worker", f"honest-{kind}", bytes([kind]))
        for at in (0, 8, 16, 40, 80, 200, 400):
            seed("worker", f"changed-{kind}-{at}", bytes([kind]) + b"".join(
                struct.pack("<HBQ", at + 4 * i, i & 3, end) for i, end in enumerate(ends)))
    words("worker", [struct.pack("<Q", end) for end in ends] + [b"\0\0\x03", b"\x08\0\x0b"])


def tars():
    for name, how in (("ustar", tarfile.USTAR_FORMAT), ("pax", tarfile.PAX_FORMAT), ("gnu", tarfile.GNU_FORMAT)):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=how) as tar:
            long = "d" * 60 + "/" + "n" * (90 if name == "ustar" else 120)
            for path, size in (("a.jpg", 600), ("a.cls", 1), (long, 3)):
                member = tarfile.TarInfo(path)
                member.size = size
                tar.addfile(member, io.BytesIO(samples(size)))
        seed("tar", name, out.getvalue()[:tar.offset + 1024])
    hostile = {"root": ("/a", {}), "up": ("../a", {}), "last": ("a/..", {}),
               "wraps": ("a", {"size": str(2 ** 64 - 512)})}  # bytes: behind it comes its own header again
    for name, (path, headers) in hostile.items():
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
            member = tarfile.TarInfo(path)
            member.pax_headers = headers
            tar.addfile(member)
        seed("tar", name, out.getvalue()[:tar.offset + 1024])
    words("tar", ["ustar", "path=", "size=", "GNU.sparse", "/../", b"\x80", "77777777777"])


def scans():
    """JPEGs whose scan a device decodes: plain ones, with restart markers and other samplings too."""
    for name, words_of in (("color", []), ("gray", ["-e", "gray"]), ("half", ["--jpeg-subsampling", "4:2:0"])):
        done = subprocess.run([PROGRAM, "run", "-e", "invert", str(FOLDER / "seeds/png/8-2-0.png"),
                               str(FOLDER / "seeds" / (name + ".jpg")), "--force", *words_of], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        path = FOLDER / "seeds" / (name + ".jpg")
        data = path.read_bytes()
        path.unlink()
        seed("jpeg_scan", path.name, data)
        at = data.index(b"\xff\xda")
        seed("jpeg_scan", "restarts-" + path.name, data[:at] + b"\xff\xdd\0\4\0\1" + data[at:])
    (FOLDER / "jpeg_scan.dict").write_text((FOLDER / "jpeg.dict").read_text() + "\n".join(
        '"\\xff\\xd%d"' % i for i in range(8)) + "\n")


def results():
    """Changes to a good file of results (fuzz_results.c)."""
    for start in range(0, 1 << 14, 1 << 9):
        seed("results", f"from-{start}", b"".join(struct.pack(">HB", start + 8 * i, 0xFF) for i in range(64)))
    words("results", [bytes([high, 0, value]) for high in range(0, 64, 8) for value in (0, 1, 0x7F, 0xFF)])


pngs()
npys()
others()
sounds()
made()
files()
pipes()
totals()
tars()
profiles()
kernels()
records()
scans()
sniffs()
answers()
results()
(FOLDER / "seeds" / "done").write_text("")
