/* Shows that a device works at all: integer arithmetic that takes a few microseconds and whose result the host knows
 * (src/opencl/trial.c repeats it). Every work-item runs `rounds` steps of a linear congruential generator. */
__kernel void trial(__global uint *out, uint rounds)
{
    uint x = (uint)get_global_id(0);
    for (uint i = 0; i < rounds; i++)
        x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x;
}
