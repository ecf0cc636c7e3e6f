/* An open safetensors file, as its parser fills it. */
#ifndef FORMATS_SAFETENSORS_H
#define FORMATS_SAFETENSORS_H

#include <clayer/safetensors.h>

#include "formats/mapping.h"

#include <jansson.h>

struct clayer_safetensors {
    char *path; /* for error texts */
    struct mapping bytes;
    json_t *header;   /* owns the names and the metadata */
    json_t *metadata; /* part of header; NULL when there is none */
    clayer_safetensors_tensor *tensors;
    size_t count;
    size_t *shapes; /* those of all tensors, one after the other */
    json_t *index;  /* name to position in tensors */
};

/* In error texts a name is cut at this length, so that the rest of the line still fits. */
#define NAME "'%.200s'"

/* Reads the header in file->bytes and checks it and every tensor. What it has allocated by the time it fails,
 * clayer_safetensors_destroy frees. */
clayer_status safetensors_parse(struct clayer_safetensors *file);

#endif
