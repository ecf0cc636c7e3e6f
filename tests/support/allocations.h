/* Counts what this program, and the library within it, allocates and frees. The linker leads the calls here (--wrap in
 * meson.build), so the driver's own memory is not counted. */
#ifndef SUPPORT_ALLOCATIONS_H
#define SUPPORT_ALLOCATIONS_H

/* Allocations so far. */
long allocations_made(void);
/* Blocks allocated and not freed. */
long allocations_live(void);

#endif
