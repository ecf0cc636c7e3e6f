/* Memory in which a read or write beyond a block's end is a crash. */
#ifndef SUPPORT_GUARDED_H
#define SUPPORT_GUARDED_H

#include <stddef.h>

/* `count` floats whose end touches an unreadable page; a read or write beyond it ends the test with a signal. For 0 the
 * pointer itself is unreadable. Freed by guarded_free. */
float *guarded_floats(size_t count);
void guarded_free(float *floats, size_t count);

#endif
