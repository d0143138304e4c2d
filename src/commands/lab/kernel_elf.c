/* See kernel_elf.h. */
#include "commands/lab/kernel_elf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/lab/kernel.h"
#include "lab/machine/elf.h"

bool smp_kernel_is_elf(const char *path)
{
    char begin[SELFMAG] = "";
    FILE *file = fopen(path, "rb");
    const bool is = file && fread(begin, 1, SELFMAG, file) == SELFMAG && !memcmp(begin, ELFMAG, SELFMAG);
    if (file)
        fclose(file);
    return is;
}

/* Reads which libraries an executable needs, and where they are sought. */
static void read_dynamic(const smp_elf *file, smp_kernel_elf *elf, const Elf64_Shdr *dynamic, const Elf64_Shdr *texts)
{
    static const char runtime[] = "libcudart.so", nvrtc[] = "libnvrtc.so",
                      own[] = "libsmp_cudart.so"; /* where smempipe compiled it */
    bool fixed = false, later = false;
    for (size_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->sh_size; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, elf->bytes + dynamic->sh_offset + at, sizeof entry);
        fixed = fixed || entry.d_tag == DT_RPATH;
        later = later || entry.d_tag == DT_RUNPATH;
        const char *name = entry.d_tag == DT_NEEDED ? smp_elf_text(file, texts, entry.d_un.d_val) : "";
        elf->driver = elf->driver || !strcmp(name, SMP_KERNEL_DRIVER) || !strcmp(name, own);
        elf->nvrtc = elf->nvrtc || !strncmp(name, nvrtc, sizeof nvrtc - 1);
        if ((!strncmp(name, runtime, sizeof runtime - 1) || (!strcmp(name, own) && !elf->runtime[0])) &&
            strlen(name) < sizeof elf->runtime && !strchr(name, '/'))
            memcpy(elf->runtime, name, strlen(name) + 1);
    }
    elf->fixed_path = fixed && !later;
}

smp_code smp_kernel_elf_open(const char *path, smp_kernel_elf *out, smp_error *err)
{
    smp_elf file;
    Elf64_Shdr one, texts;
    char *bytes;
    *out = (smp_kernel_elf){.size = 0};
    smp_code code = smp_kernel_read(path, &bytes, &out->size, err);
    out->bytes = (unsigned char *)bytes;
    if (code)
        return code;
    if (!smp_elf_open(bytes, out->size, &file) || !file.head.e_shnum || file.head.e_ident[EI_DATA] != ELFDATA2LSB ||
        (file.head.e_type != ET_EXEC && file.head.e_type != ET_DYN))
        return smp_fail(err, SMP_E_DECODE, "it is not an executable whose sections can be read"),
               smp_at(err, "%s", path);
    for (size_t i = 0; i < file.head.e_shnum; i++) {
        if (!smp_elf_section(&file, i, &one) || one.sh_type == SHT_NOBITS)
            continue;
        if (one.sh_type == SHT_DYNAMIC && smp_elf_section(&file, one.sh_link, &texts))
            read_dynamic(&file, out, &one, &texts);
        const char *name = smp_elf_text(&file, &file.names, one.sh_name);
        if (!strcmp(name, ".nv_fatbin")) {
            out->code = smp_elf_bytes(&file, &one);
            out->code_size = one.sh_size;
        } else if (!strcmp(name, "__nv_relfatbin")) {
            out->parts = smp_elf_bytes(&file, &one);
            out->parts_size = one.sh_size;
        }
    }
    return SMP_OK;
}

void smp_kernel_elf_free(smp_kernel_elf *elf)
{
    smp_free(elf->bytes);
    *elf = (smp_kernel_elf){.size = 0};
}
