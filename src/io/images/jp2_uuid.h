/* The kinds of a JPEG 2000's box "uuid" that hold metadata. Sources: XMP specification, part 3; the JPEG 2000 Exif box
 * that ImageMagick, ExifTool and Kakadu write. */
#pragma once

enum { SMP_JP2_UUID = 16 /* bytes of a kind */ };

#define SMP_JP2_XMP  "\xBE\x7A\xCF\xCB\x97\xA9\x42\xE8\x9C\x71\x99\x94\x91\xE3\xAF\xAC"
#define SMP_JP2_IPTC "\x33\xC7\xA4\xD2\xB8\x1D\x47\x23\xA0\xBA\xF1\xA3\xE0\x97\xAD\x38"
#define SMP_JP2_EXIF "JpgTiffExif->JP2"
