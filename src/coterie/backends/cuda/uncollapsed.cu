// Algorithm 3 of X-DMM: phi of every cluster for a sweep, then every document given theta and phi.
//
// `log_phi` is words x columns in single precision; a column is a cluster. Sums are in double precision.

#define GAMMA_DRAWS 64  // as in coterie/_rng.py
#define PI 3.14159265358979323846

// ln of a Gamma(shape) variate; the twin of coterie/kernels/gammas.py.
__device__ double log_gamma(double shape, u64 random, u64 first) {
    const double raised = shape >= 1.0 ? shape : shape + 1.0, d = raised - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    double log_v = 0.0;
    for (int i = 0; i < (GAMMA_DRAWS - 1) / 3; i++) {
        const u64 at = first + 1 + 3 * i;
        const double radius = sqrt(-2.0 * log(1.0 - uniform_at(random, at)));
        const double x = radius * cos(2.0 * PI * uniform_at(random, at + 1));
        double v = 1.0 + c * x;
        if (v <= 0.0) continue;
        v = v * v * v;
        log_v = log(v);
        if (log(1.0 - uniform_at(random, at + 2)) < 0.5 * x * x + d * (1.0 - v + log_v)) break;
    }
    const double value = log(d) + log_v;
    return shape >= 1.0 ? value : value + log(1.0 - uniform_at(random, first)) / shape;
}

__device__ __forceinline__ double prior_and_held(
    const int* held, int held_width, const double* beta, int beta_stride, i64 w, int k) {
    return beta[w * beta_stride] + (k < held_width ? held[w * held_width + k] : 0);
}

// out[w, k] = ln of a Gamma(n_kw + b_w) variate: ln phi_k up to a constant.
extern "C" __global__ void draw_gammas(
    const int* held, int held_width, const double* beta, int beta_stride, i64 n_words, int width, u64 key, u64 sweep,
    u64 draw, double* out) {
    const i64 n = n_words * width;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) {
        const i64 w = i / width;
        const int k = (int)(i % width);
        out[i] = log_gamma(
            prior_and_held(held, held_width, beta, beta_stride, w, k), address(key, sweep, k), draw + w * GAMMA_DRAWS);
    }
}

// For 32 columns and `part` words: the largest value of each column, and the sum of e^(value - largest).
// Blocks of 256 threads; a grid of columns / 32 x parts.
extern "C" __global__ void sum_columns(const double* value, int width, i64 n_words, i64 part, double* top, double* sum) {
    __shared__ double tops[8][32], sums[8][32];
    const int x = threadIdx.x & 31, y = threadIdx.x >> 5, k = blockIdx.x * 32 + x;
    const i64 first = blockIdx.y * part, last = min(first + part, n_words);
    double high = -INF, total = 0.0;
    if (k < width)
        for (i64 w = first + y; w < last; w += 8) high = fmax(high, value[w * width + k]);
    tops[y][x] = high;
    __syncthreads();
    for (int i = 0; i < 8; i++) high = fmax(high, tops[i][x]);
    if (k < width)
        for (i64 w = first + y; w < last; w += 8) total += exp(value[w * width + k] - high);
    sums[y][x] = total;
    __syncthreads();
    if (y == 0 && k < width) {
        for (int i = 1; i < 8; i++) total += sums[i][x];
        top[(i64)blockIdx.y * width + k] = high;
        sum[(i64)blockIdx.y * width + k] = total;
    }
}

// log_phi[w, k] = value[w, k] - norm[k].
extern "C" __global__ void fill_phi(const double* value, const double* norm, int width, i64 n_words, float* log_phi) {
    const i64 n = n_words * width;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x)
        log_phi[i] = (float)(value[i] - norm[i % width]);
}

// log_phi[w, k] = ln (n_kw + b_w) - norm[k]: phi at its mean.
extern "C" __global__ void fill_means(
    const int* held, int held_width, const double* beta, int beta_stride, const double* norm, int width, i64 n_words,
    float* log_phi) {
    const i64 n = n_words * width;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) {
        const i64 w = i / width;
        const int k = (int)(i % width);
        log_phi[i] = (float)(log(prior_and_held(held, held_width, beta, beta_stride, w, k)) - norm[k]);
    }
}

// A column for each document; the last one stands for `many` clusters that are all alike.
extern "C" __global__ void __launch_bounds__(256, 3) draw_given(
    const i64* ptr, const int* word, const int* tally, const int* copies_of, const double* log_theta, const float* log_phi,
    int width, int n_columns, i64 many, i64 n, u64 key, u64 sweep, u64 draw, double* scratch, i64* drawn) {
    extern __shared__ double shared[];
    __shared__ double room[32];
    __shared__ double within;
    double* score = scratch != nullptr ? scratch + (i64)blockIdx.x * width : shared;
    for (i64 d = blockIdx.x; d < n; d += gridDim.x) {
        const i64 begin = ptr[d], end = ptr[d + 1];
        const int copies = copies_of[d];
        for (int k = threadIdx.x * 4; k < width; k += blockDim.x * 4) {
            double sum[4] = {0.0, 0.0, 0.0, 0.0};
            for (i64 at = begin; at < end; at += AHEAD) {
                float4 rows[AHEAD];
                double times[AHEAD];
#pragma unroll
                for (int i = 0; i < AHEAD; i++) {
                    const i64 e = at + i < end ? at + i : end - 1;
                    times[i] = at + i < end ? tally[e] : 0;
                    rows[i] = *(const float4*)(log_phi + (i64)word[e] * width + k);
                }
#pragma unroll
                for (int i = 0; i < AHEAD; i++) {
                    sum[0] += times[i] * rows[i].x;
                    sum[1] += times[i] * rows[i].y;
                    sum[2] += times[i] * rows[i].z;
                    sum[3] += times[i] * rows[i].w;
                }
            }
#pragma unroll
            for (int j = 0; j < 4; j++)
                score[k + j] = k + j >= n_columns ? -INF
                    : copies * (log_theta[k + j] + sum[j]) + (k + j == n_columns - 1 ? log((double)many) : 0.0);
        }
        __syncthreads();
        i64 k = pick(score, width, -INF, uniform(key, sweep, d, draw), 0, false, room, &within);
        if (threadIdx.x == 0) {
            if (many > 1 && k == n_columns - 1) k += min((i64)(within * many), many - 1);
            drawn[d] = k;
        }
        __syncthreads();
    }
}
