/* Lists the configurations that the families suggest for typical GPUs and layers, one a line: family, source, build
 * options and where it is the default, separated by tabs. tests/deep/offline.py compiles them for GPUs that are not
 * here. */
#include "host/packed.h"
#include "kernels/family.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    long compute_units, work_group, local_memory, clock, smallest_sub_group;
} devices[] = {
    /* Limits as these vendors' OpenCL drivers report them. */
    {"nvidia", 132, 1024, 49152, 1980, -1},    {"amd", 40, 256, 65536, 2500, -1},
    {"intel", 512, 1024, 65536, 2400, 8},      {"intel", 24, 256, 65536, 1150, 8},
    {"intel-16", 448, 1024, 131072, 1600, 16}, {"embedded", 4, 64, 16384, 800, -1},
};

static const struct {
    size_t batch, in_features, out_features;
} layers[] = {
    {1, 768, 3072},   {8, 768, 3072},    {16, 3072, 768},    {32, 768, 3072}, {128, 768, 3072},
    {512, 3072, 768}, {512, 1024, 4096}, {1024, 1024, 1024}, {4096, 64, 64},  {1, 64, 64},
    {128, 13, 512},   {4096, 64, 1},     {61, 255, 127},     {1000, 500, 10}, {2048, 2048, 2048},
};

int main(void)
{
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        clayer_device_info info;
        memset(&info, 0, sizeof info);
        info.type = CLAYER_DEVICE_GPU;
        info.compute_units = devices[d].compute_units;
        info.clock_mhz = devices[d].clock;
        info.max_work_group_size = devices[d].work_group;
        for (int i = 0; i < 3; i++)
            info.max_work_item_sizes[i] = devices[d].work_group;
        info.local_memory_bytes = devices[d].local_memory;
        info.local_memory_is_real = 1;
        info.smallest_sub_group_size = devices[d].smallest_sub_group;
        info.global_memory_bytes = (int64_t)8 << 30;
        info.max_allocation_bytes = (int64_t)2 << 30;
        info.native_vector_width_float = 1;
        struct opencl_context context; /* only its presence is looked at */
        memset(&context, 0, sizeof context);
        const struct target target = {.info = &info, .context = &context, .clblast = true};
        for (size_t l = 0; l < sizeof layers / sizeof *layers; l++) {
            const struct layer_shape shape = {.in_features = layers[l].in_features,
                                              .out_features = layers[l].out_features,
                                              .panel = packed_panel_width(layers[l].out_features),
                                              .activation = {.kind = CLAYER_ACTIVATION_RELU},
                                              .plain = true};
            const struct call_shape call = {
                .batch = layers[l].batch, .ldx = layers[l].in_features, .ldy = layers[l].out_features};
            for (size_t f = 0; f < family_count; f++) {
                struct configuration configuration = {{0}};
                char options[FAMILY_OPTIONS_BYTES];
                if (!families[f]->source || families[f] == &family_panel)
                    continue;
                families[f]->suggest(&target, &shape, &call, &configuration);
                if (families[f]->refuses(&target, &shape, &call, &configuration))
                    continue;
                family_options(families[f], &info, &shape, &configuration, options, sizeof options);
                printf("%s\t%s\t%s\t%s %zux%zux%zu\n", families[f]->name, families[f]->source, options, devices[d].name,
                       call.batch, shape.in_features, shape.out_features);
            }
        }
    }
    return 0;
}
