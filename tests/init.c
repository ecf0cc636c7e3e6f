/* Initial weights: the generator's published vectors, exact uniform numbers, and the moments of each scheme. */
#include <clayer/init.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From the authors' Random123 distribution, file kat_vectors, philox4x32 with 10 rounds. */
Test(init, philox_matches_the_published_vectors)
{
    static const struct {
        uint32_t counter[4], key[2], output[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t output[4];
        clayer_philox(known[i].counter, known[i].key, output);
        cr_assert_arr_eq(output, known[i].output, sizeof output, "vector %zu", i);
    }
}

/* Mean and standard deviation. */
static void moments(const float *values, size_t count, double *mean, double *std)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    *mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - *mean) * (values[i] - *mean);
    *std = sqrt(squares / (double)count);
}

/* A sample of n has its standard deviation within about 1/sqrt(2n) of the true one; six times that never fails by
 * chance, and the numbers are the same in every run anyway. */
static void check(const clayer_init_params *params, double expected_std, double bound)
{
    const size_t in = 768, out = 3072, count = in * out;
    float *weight = malloc(count * sizeof *weight), *bias = malloc(out * sizeof *bias);
    cr_assert_eq(clayer_init_linear(params, in, out, weight, bias), CLAYER_OK);
    double mean, std;
    moments(weight, count, &mean, &std);
    cr_assert_float_eq(std, expected_std, expected_std * 6 / sqrt(2.0 * (double)count), "std %g, expected %g", std,
                       expected_std);
    cr_assert_float_eq(mean, 0, expected_std * 6 / sqrt((double)count));
    for (size_t i = 0; i < count; i++)
        cr_assert(fabs(weight[i]) <= bound, "weight %zu is %g", i, weight[i]);
    moments(bias, out, &mean, &std);
    if (params && params->scheme != CLAYER_INIT_PYTORCH)
        cr_assert_eq(std, 0.0);
    else
        cr_assert_float_eq(std, expected_std, expected_std * 6 / sqrt(2.0 * (double)out));
    free(weight);
    free(bias);
}

Test(init, moments_of_each_scheme)
{
    check(NULL, 1 / sqrt(3.0 * 768), (double)(float)(1 / sqrt(768.0)));
    check(&(clayer_init_params){.scheme = CLAYER_INIT_KAIMING_UNIFORM, .seed = 7}, sqrt(2.0 / 768),
          (double)(float)sqrt(6.0 / 768));
    check(&(clayer_init_params){.scheme = CLAYER_INIT_KAIMING_NORMAL, .seed = 7}, sqrt(2.0 / 768), INFINITY);
    check(&(clayer_init_params){.scheme = CLAYER_INIT_NORMAL, .std = 10, .stream = 3}, 10, INFINITY);
}

Test(init, uniform_numbers_are_exact)
{
    /* Elements 0 to 3 come from the block that the published vectors give for counter 0 and key 0. */
    static const uint32_t bits[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    float weight[6];
    cr_assert_eq(clayer_init_linear(NULL, 3, 2, weight, NULL), CLAYER_OK);
    for (int i = 0; i < 4; i++) {
        const float expected = (float)(((double)(bits[i] >> 8) / 8388608.0 - 1.0) * (double)(float)(1 / sqrt(3.0)));
        cr_assert_eq(memcmp(&weight[i], &expected, sizeof expected), 0, "%a, expected %a", weight[i], expected);
    }
}

Test(init, normal_numbers_are_within_4_ulp)
{
    const size_t count = 40000;
    float *weight = malloc(count * sizeof *weight);
    const clayer_init_params params = {.scheme = CLAYER_INIT_NORMAL, .std = 1, .seed = 11, .stream = 2};
    cr_assert_eq(clayer_init_linear(&params, 200, 200, weight, NULL), CLAYER_OK);
    for (size_t i = 0; i < count; i += 2) {
        uint32_t bits[4];
        clayer_philox((uint32_t[]){(uint32_t)(i / 4), 0, 2, 0}, (uint32_t[]){11, 0}, bits);
        const uint32_t a = bits[i % 4], b = bits[i % 4 + 1];
        const long double radius = sqrtl(-2 * logl(((long double)a + 1) / 4294967296.0L));
        const long double angle = 2 * acosl(-1.0L) * b / 4294967296.0L;
        const double expected[2] = {(double)(radius * cosl(angle)), (double)(radius * sinl(angle))};
        for (int j = 0; j < 2; j++) {
            const float near = fabsf((float)expected[j]);
            const double ulp = nextafterf(near, INFINITY) - near;
            cr_assert(fabs(weight[i + (size_t)j] - expected[j]) <= 4 * ulp, "element %zu: %.9g, expected %.17g",
                      i + (size_t)j, weight[i + (size_t)j], expected[j]);
        }
    }
    free(weight);
}

Test(init, elements_do_not_depend_on_how_many_are_drawn)
{
    float few[10], many[1000];
    const clayer_init_params params = {.scheme = CLAYER_INIT_KAIMING_NORMAL, .seed = 5};
    cr_assert_eq(clayer_init_linear(&params, 10, 1, few, NULL), CLAYER_OK);
    cr_assert_eq(clayer_init_linear(&params, 10, 100, many, NULL), CLAYER_OK);
    cr_assert_arr_eq(few, many, sizeof few);
}

Test(init, bad_arguments)
{
    float weight[4] = {1, 2, 3, 4};
    cr_assert_eq(clayer_init_linear(&(clayer_init_params){.scheme = (clayer_init)9}, 2, 2, weight, NULL),
                 CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(
        clayer_init_linear(&(clayer_init_params){.scheme = CLAYER_INIT_NORMAL, .std = NAN}, 2, 2, weight, NULL),
        CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_init_linear(NULL, 2, 2, NULL, NULL), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_init_linear(NULL, SIZE_MAX, 2, weight, NULL), CLAYER_ERROR_TOO_LARGE);
    cr_assert_eq(weight[0], 1.0f, "nothing was written");
    cr_assert_eq(clayer_init_linear(NULL, 0, 2, NULL, weight), CLAYER_OK);
    cr_assert_eq(clayer_init_linear(&(clayer_init_params){.scheme = CLAYER_INIT_ZEROS}, 2, 2, weight, NULL), CLAYER_OK);
    for (int i = 0; i < 4; i++)
        cr_assert(weight[i] == 0.0f && !signbit(weight[i]));
}
