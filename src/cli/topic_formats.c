/* `smempipe help formats`: made from the table of file formats. */
#include "cli/topics.h"

#include <string.h>

#include "io/format.h"
#include "report/text.h"

static const smp_file_format *const formats[] = {
#define F(symbol) &symbol,
#include "io/format_list.def"
#undef F
};

enum { WIDTH = 100, EXTENSIONS = 38 /* columns: of a line, and in front of the extensions */ };

/* Libraries that are opened while the program runs are not on every machine. */
static bool is_here(const smp_file_format *format)
{
    smp_libraries_open(format->library);
    return (smp_libraries_opened() & format->library) == format->library;
}

static bool is_read(const smp_file_format *format)
{
    return format->sniff && is_here(format);
}

static bool is_written(const smp_file_format *format)
{
    return format->write_shape && is_here(format);
}

void smp_formats_brief(FILE *to)
{
    static const char *const uses[] = {"not here: ", "read only: ", "written only: ", "read and written: "};
    for (int use = 3; use >= 0; use--) {
        const char *before = uses[use];
        for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
            if ((is_read(formats[i]) ? 1 : 0) + (is_written(formats[i]) ? 2 : 0) == use) {
                fprintf(to, "%s%s", before, formats[i]->name);
                before = ", ";
            }
        if (before != uses[use])
            fputc('\n', to);
    }
}

static void put_table(FILE *to)
{
    fputs("Files are recognised by their content when read, and by the name's extension when written.\n\n", to);
    fprintf(to, "  %-12s  %-12s  %-7s  %s\n", "format", "", "holds", "extensions");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const smp_file_format *format = formats[i];
        const bool read = is_read(format), written = is_written(format);
        const char *use = read && written ? "read, written" : read ? "read" : written ? "written" : "not here";
        const char *kind = format->kind == SMP_IMAGE ? "image" : format->kind == SMP_AUDIO ? "audio" : "both";
        int at = fprintf(to, "  %-12s  %-13s  %-6s ", format->name, use, kind);
        for (const char *const *extension = format->extensions; *extension; extension++) {
            if (at + 2 + (int)strlen(*extension) > WIDTH)
                at = fprintf(to, "\n%*s", EXTENSIONS, "") - 1;
            at += fprintf(to, " .%s", *extension);
        }
        fputc('\n', to);
    }
    fputc('\n', to);
}

static void put_pictures(FILE *to)
{
    smp_text_wrap(
        to,
        "What is 'not here', or is written only, needs a library that this build, or this machine, is without; "
        "README.md lists them.\n"
        "\n"
        "8 and 16 bits stay as they are; a JPEG holds 8 bits and no alpha (colour is laid on black), WebP, AVIF and "
        "QOI 8 bits. NPY holds NumPy arrays of uint8, uint16 and float32 exactly; a sound becomes frames x channels. "
        "Arrays of other integers are read as float32 where that is exact and refused otherwise, float64 is rounded; "
        "bool becomes 0 and 255. EXIF orientation is applied on reading. A PNG made of a PNG, TIFF, GIF or BMP of "
        "few bits, or with a palette, has as few where its samples still fit. A JPEG or MP3 that no stage changes "
        "is copied as it is coded, with other metadata if asked for (--strip); --fast-decode decodes JPEGs smaller "
        "that are scaled down. A JPEG made of a JPEG keeps its tables, its subsampling of colour and its scans "
        "(progressive or not), and Huffman codes near its own; others have quality 90; a lossless WebP made of one "
        "stays "
        "lossless; --quality, --jpeg-subsampling and --jpeg-progressive change that. ICC profile, cICP, resolution, "
        "text, EXIF, XMP and IPTC are kept unless --strip; a thumbnail only where no stage changes the picture. No "
        "times are written: the same input and pipeline give the same bytes.\n\n"
        "A TIFF is read with 1 to 64 bits a sample or floats, gray, RGB, palette, CMYK, YCbCr, L*a*b*, LogLuv or 2 to "
        "8 "
        "channels of any meaning (gray with samples that are not alpha), in strips, tiles or planes; --page N reads "
        "another than its first page, batch --pages all each. Its integers with a sign, and gray ones of more than 16 "
        "bits, become floats of the same "
        "value: elevations, CT. Values of HDR, OpenEXR, LogLuv, and of PSD with 32 bits, are light: "
        "files of integers hold it as sRGB encodes it, files of floats as it is. CMYK (JPEG, TIFF, PSD) becomes sRGB "
        "by the file's ICC profile (relative to paper white, black point compensated), without one by R = (1 - C)(1 "
        "- K). Of a PDF one page is drawn (--page N; --dpi, 150 unless said) as poppler does, on white; an SVG as "
        "librsvg does, with alpha, at its own size (--dpi 192: twice) or --draw-width PIXELS; no other file that "
        "they name is opened. HEIC and AVIF give their primary picture, turned as their boxes say; more than 8 bits "
        "become 16. Of an animation, an MPO, or pictures one behind the other, the first is read; --frames gives "
        "each picture of a GIF, WebP or animated PNG, and writes them into one GIF, WebP or APNG: only what changes is "
        "stored, with the "
        "input's "
        "delays and repeats (--delay, --loop). concat makes an animation, a PDF or a TIFF of several files. A PDF that "
        "is "
        "written has a page for each picture, as large as its resolution says (--pdf-dpi, --paper); a JPEG goes in as "
        "it is coded. Of an ICO or CUR the largest picture is read, or --page N; an ICO made of one picture has 16, "
        "32, 48 and 256 pixels a side, as far as these are smaller, and the picture itself up to 256; concat makes one "
        "of several, as they are. A GIF has 256 colours a picture: of more, each pixel gets the nearest "
        "of the best (told; 'palette 256 dither=diffuse' as the last stage spreads what is lost). What is left out, "
        "and what may be damaged, is said in warnings (--quiet: not) and in --report.\n",
        0, 0);
}

void smp_topic_formats(FILE *to)
{
    put_table(to);
    put_pictures(to);
    fputc('\n', to);
    smp_text_wrap(
        to,
        "Sound is computed in 32-bit float; files keep their kind of sample (PCM of 8 to 32 bits, float), rate, "
        "speakers, tags, chapters and pictures: WAV and AIFF as ID3 where their own lists have no place, and what "
        "another format cannot hold is named. Integers are rounded to nearest without dither; samples beyond full "
        "scale are clamped and counted. Of an MP3 the delay and padding that its coder noted are cut off; 16 bits are "
        "written of it, unless --samples says otherwise; it has no check sums, so that damage within its frames may be "
        "heard and not be told. An M4A is AAC, or with --lossless ALAC, and ALAC stays ALAC; it says where the sound "
        "begins and ends to the frame (edit list, iTunSMPB), and of one that is read what only fills its packets up is "
        "cut off.\n"
        "\n"
        "'-' is standard input or output; pictures go there as PNG, sound as WAV.\n"
        "\n"
        "RAW is samples without a header, of which --raw says what they are (channels 2 and 4 are alpha); written they "
        "are as the input's, with the lowest byte first, and 'depth', 'gray' or --samples change them. Y4M is video "
        "without compression, 8 to 16 bits, 4:2:0, 4:2:2, 4:4:4, 4:1:1 or luma alone, by BT.709 from 1280 columns or "
        "577 rows on and by BT.601 below; a sample of chroma holds for all its pixels. It is written as the input's "
        "was, else 4:4:4. With run --frames every picture of such a stream goes through the pipeline: ffmpeg -i IN -f "
        "yuv4mpegpipe - | smempipe run P.pipe --frames - - | ffmpeg -i - OUT.\n"
        "\n"
        "In reports and plans 'u8x3 640x480' means samples u8 (8 bits), u16 or f32, 3 channels, 640 columns and 480 "
        "rows.",
        0, 0);
}
