/* Image resources of Photoshop, which stand in JPEG, TIFF, PNG and PSD, and IPTC's records among them. Source: Adobe
 * Photoshop File Formats Specification, Image Resources Section. */
#include <string.h>

#include "base/checked.h"
#include "io/bytes.h"
#include "io/format.h"

bool smp_resource_next(const smp_source *source, uint64_t *at, uint64_t end, smp_resource *one)
{
    enum { NAME = 6, SIZE = 4 };
    uint8_t head[NAME + 1], size[SIZE];
    if (end - *at < NAME + 2 + SIZE || !smp_source_look(source, *at, head, sizeof head) || memcmp(head, "8BIM", 4) != 0)
        return false;
    const uint64_t value = *at + NAME + ((head[NAME] + UINT64_C(2)) & ~UINT64_C(1)) + SIZE;
    const bool whole = value <= end && smp_source_look(source, value - SIZE, size, SIZE) && /* else it is cut */
                       smp_get_be(size, SIZE) <= end - value;
    const uint64_t bytes = whole ? smp_get_be(size, SIZE) : 0;
    *one = (smp_resource){smp_get_be(head + 4, 2), whole ? value : 0, bytes};
    *at = whole ? smp_min_u64(value + bytes + bytes % 2, end) : end;
    return true;
}

bool smp_meta_take_resources(smp_meta *meta, const smp_source *source, uint64_t at, uint64_t end, smp_notes *notes)
{
    enum { IPTC = 0x0404 };
    static const struct {
        uint16_t from, to;
        const char *what;
    } told[] = {{1025, 1025, "paths"}, {2000, 2999, "paths"}, {1032, 1032, "guides"}, {1050, 1050, "slices"}};
    /* Others are settings of the program, for its windows and printers, or what files hold elsewhere. */
    smp_names left = {.count = 0};
    smp_resource one;
    bool done = true;
    while (done && smp_resource_next(source, &at, end, &one)) {
        for (size_t i = 0; i < sizeof told / sizeof *told; i++)
            if (one.id >= told[i].from && one.id <= told[i].to)
                smp_names_add(&left, told[i].what);
        if (one.id == IPTC && !one.at)
            smp_note(notes, "IPTC records are left out: they go on in another marker, or are cut");
        else if (one.id == IPTC && !meta->iptc.size)
            done = smp_meta_read(source, "IPTC", one.at, one.size, &meta->iptc, notes);
    }
    if (left.count)
        smp_note(notes, "resources of Photoshop are left out: %s", smp_names_end(&left));
    return done;
}
