/* What a layer's calls cost: counted by linear_run, told here. */
#include "base/error.h"
#include "linear.h"

#include <clayer/profile.h>
#include <time.h>

double profile_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void profile_count(clayer_linear *linear, size_t batch, double seconds)
{
    const double k = (double)linear->shape.in_features, n = (double)linear->shape.out_features, m = (double)batch;
    pthread_mutex_lock(&linear->plans_lock);
    linear->profile.calls++;
    linear->profile.seconds += seconds;
    linear->profile.flops += linear_flops(linear, batch);
    linear->profile.bytes += (m * k + k * n + n + m * n) * (double)sizeof(float);
    pthread_mutex_unlock(&linear->plans_lock);
}

static clayer_status check(const clayer_linear *linear)
{
    const clayer_context *c = linear->context;
    if (!c->profile)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "the context was made without profile, or its queue cannot measure");
    return CLAYER_OK;
}

clayer_status clayer_linear_get_profile(clayer_linear *linear, clayer_linear_profile *profile)
{
    REQUIRE(linear != NULL && profile != NULL);
    TRY(check(linear));
    struct opencl_context *device = linear->context->opencl;
    double seconds = 0;
    if (device) {
        opencl_lock(device);
        const clayer_status status = opencl_timer_read(device, &linear->profile.timer);
        seconds = linear->profile.timer.seconds;
        opencl_unlock(device);
        TRY(status);
    }
    pthread_mutex_lock(&linear->plans_lock);
    *profile = (clayer_linear_profile){.calls = linear->profile.calls,
                                       .seconds = linear->profile.seconds + seconds,
                                       .flops = linear->profile.flops,
                                       .bytes = linear->profile.bytes};
    pthread_mutex_unlock(&linear->plans_lock);
    return CLAYER_OK;
}

clayer_status clayer_linear_reset_profile(clayer_linear *linear)
{
    REQUIRE(linear != NULL);
    TRY(check(linear));
    struct opencl_context *device = linear->context->opencl;
    if (device) {
        opencl_lock(device);
        opencl_timer_clear(device, &linear->profile.timer);
        opencl_unlock(device);
    }
    pthread_mutex_lock(&linear->plans_lock);
    linear->profile.calls = 0;
    linear->profile.seconds = linear->profile.flops = linear->profile.bytes = 0;
    pthread_mutex_unlock(&linear->plans_lock);
    return CLAYER_OK;
}
