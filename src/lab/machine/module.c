/* Modules, whatever they were read from. */
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/machine.h"

bool warp_number_module(smp_warp_module *module)
{
    size_t all = 0, at = 0;
    for (size_t i = 0; i < module->kernel_count; i++)
        all += module->kernels[i]->code.count;
    for (warp_function *f = module->functions; f; f = f->next)
        all += f->code.count;
    module->insts = smp_alloc_array(all + 1, sizeof *module->insts);
    if (!module->insts)
        return false;
    module->inst_count = all;
    warp_function *f = module->functions;
    for (size_t i = 0; i < module->kernel_count || f; i++) {
        warp_code *code = i < module->kernel_count ? &module->kernels[i]->code : NULL;
        if (!code) {
            code = &f->code;
            f = f->next;
        }
        code->files = module->files;
        code->file_count = module->file_count;
        for (size_t k = 0; k < code->count; k++) {
            code->insts[k].index = (uint32_t)at;
            module->insts[at++] = &code->insts[k];
        }
    }
    for (size_t i = 0; i < module->kernel_count; i++) {
        module->kernels[i]->insts = module->insts;
        module->kernels[i]->inst_count = all;
    }
    return true;
}

void warp_free_code(warp_code *code)
{
    for (size_t i = 0; i < code->count; i++)
        smp_free((void *)(uintptr_t)code->insts[i].extra);
    smp_free_all(code->symbol, code->name, code->insts, code->constants, code->controls, code->nans, code->specials,
                 code->arrays, code->params, code->bank_rows);
    for (size_t i = 0; i < WARP_BANKS; i++)
        warp_free_bank(&code->banks[i]);
    smp_free(code->results);
}

void smp_warp_module_free(smp_warp_module *module)
{
    if (!module)
        return;
    for (size_t i = 0; i < module->file_count; i++)
        smp_free(module->files[i]);
    for (size_t i = 0; i < module->kernel_count; i++) {
        warp_free_code(&module->kernels[i]->code);
        smp_free(module->kernels[i]);
    }
    while (module->functions) {
        warp_function *f = module->functions;
        module->functions = f->next;
        warp_free_code(&f->code);
        smp_free(f);
    }
    while (module->pointers) {
        warp_pointer *p = module->pointers;
        module->pointers = p->next;
        smp_free_all(p->name, p);
    }
    for (size_t i = 0; i < module->variable_count; i++)
        smp_free(module->variables[i].name);
    smp_free_all(module->variables, module->text, module->files, module->kernels, module->insts, module);
}

size_t smp_warp_variable_count(const smp_warp_module *module)
{
    return module->variable_count;
}

void *smp_warp_variable(const smp_warp_module *module, const char *name, size_t *size)
{
    for (size_t i = 0; i < module->variable_count; i++)
        if (module->variables[i].name && !strcmp(module->variables[i].name, name)) {
            *size = module->variables[i].size;
            return module->variables[i].memory;
        }
    return NULL;
}

size_t smp_warp_kernel_count(const smp_warp_module *module)
{
    return module->kernel_count;
}

const smp_warp_kernel *smp_warp_kernel_at(const smp_warp_module *module, size_t index)
{
    return module->kernels[index];
}
