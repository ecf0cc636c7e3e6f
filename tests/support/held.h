/* What this process holds, drivers and their compilers included: what support/heap.h, which sees only the program's own
 * code, cannot tell. */
#ifndef SUPPORT_HELD_H
#define SUPPORT_HELD_H

struct held {
    double heap_mib;      /* allocated by whatever library and not freed, as malloc counts it */
    double anonymous_mib; /* resident memory that is no file's, once malloc has given back what it can */
    double file_mib;      /* resident pages of libraries: grows as more of a compiler is run */
    long threads, descriptors;
};

/* While no other thread allocates. */
struct held held_now(void);

/* Compilations that PoCL has kept in its folder ($POCL_CACHE_DIR): one file for each program, one for each kernel and
 * kind of work-group. With a folder that was empty when the process began these are all that happened in it. */
long held_compilations(void);

/* Empties CLBlast's cache of programs, which holds on to OpenCL objects for as long as the process lives. */
void held_forget_clblast(void);

#endif
