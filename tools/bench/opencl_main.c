/* clayer-bench-opencl: the peers that need OpenCL of their own. clayer-bench starts it. */
#include "bench/roofline.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct setup setup;
    if (peer_setup(argc, argv, &setup) && !strcmp(setup.peer, "roofline"))
        return roofline_opencl(&setup);
#ifdef BENCH_CLBLAST
    if (setup.peer && !strcmp(setup.peer, peer_clblast.name))
        return peer_serve(&peer_clblast, &setup);
#endif
    if (setup.peer && !strcmp(setup.peer, "clblast"))
        puts("error built without CLBlast");
    else
        fputs("clayer-bench-opencl is started by clayer-bench\n", stderr);
    return 2;
}
