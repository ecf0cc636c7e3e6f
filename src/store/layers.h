/* The layers of origin on disk and in the library, in their order; for store/store.c. */
#ifndef STORE_LAYERS_H
#define STORE_LAYERS_H

#include "store/format.h"
#include "store/store.h"

/* Receives each section that is about the device or a family it belongs to; may take its records away (and leave NULL
 * and 0). */
typedef clayer_status (*layers_receiver)(void *user, enum store_origin origin, struct format_section *section);

/* Hands on the sections of a text that concern the device. */
clayer_status layers_take(struct format_content *content, const struct record_device *device, enum store_origin origin,
                          layers_receiver receiver, void *user);

/* Reads environment, user, system and built-in records. Only OUT_OF_MEMORY fails. */
clayer_status layers_read(const struct record_device *device, layers_receiver receiver, void *user);

/* CLAYER_TUNING=off. */
bool layers_off(void);

#endif
