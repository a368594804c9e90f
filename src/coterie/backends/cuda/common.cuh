// What all kernels share: addressed random numbers, log-gamma differences, reductions over a block.
//
// Layouts: `held` is n_kw, words x slots, row by row, in units of the urn; a slot without documents
// that is no seed is closed and holds nothing. `width` is a multiple of 16.

typedef unsigned long long u64;
typedef long long i64;

#define INF __longlong_as_double(0x7ff0000000000000LL)
#define LN2 0.693147180559945309417
#define MANY 48  // above so many factors, a difference of log-gammas is cheaper

// ---------------------------------------------------------------- randomness has an address (coterie/_rng.py)
__device__ __forceinline__ u64 mix(u64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

__device__ __forceinline__ double uniform(u64 key, u64 sweep, u64 document, u64 draw) {
    const u64 golden = 0x9E3779B97F4A7C15ULL;
    u64 h = mix(key + golden);
    h = mix(h + (sweep + 1) * golden);
    h = mix(h + (document + 1) * golden);
    h = mix(h + (draw + 1) * golden);
    return (double)(h >> 11) * 0x1.0p-53;
}

// ln [ x (x+1) ... (x+n-1) ], also where x is so large that ln G(x + n) and ln G(x) cancel.
__device__ __forceinline__ double log_rising(double x, double n) {
    if (n == 0.0) return 0.0;
    if (x <= 0.0) return -INF;
    if (n == 1.0) return log(x);
    if (n <= 32.0 && x <= 1e8) {  // far below overflow, and much quicker than two log-gammas
        double product = x;
        for (int i = 1; i < (int)n; i++) product *= x + i;
        return log(product);
    }
    if (x > 1e4 * n)
        return n * log(x) + n * (n - 1) / (2 * x) - n * (n - 1) * (2 * n - 1) / (12 * x) / x;
    return lgamma(x + n) - lgamma(x);
}

// ---------------------------------------------------------------- over a warp, over a block
__device__ __forceinline__ double warp_max(double v) {
    for (int step = 16; step; step >>= 1) v = fmax(v, __shfl_xor_sync(~0u, v, step));
    return v;
}

__device__ __forceinline__ double warp_sum(double v) {
    for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(~0u, v, step);
    return v;
}

// The same for every thread; `room` has one entry per warp. All threads must call it.
__device__ __forceinline__ double block_max(double v, double* room) {
    const int warps = blockDim.x >> 5;
    v = warp_max(v);
    if (warps == 1) return v;
    __syncthreads();
    if ((threadIdx.x & 31) == 0) room[threadIdx.x >> 5] = v;
    __syncthreads();
    for (int i = 0; i < warps; i++) v = fmax(v, room[i]);
    return v;
}

__device__ __forceinline__ double block_sum(double v, double* room) {
    const int warps = blockDim.x >> 5;
    v = warp_sum(v);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) room[threadIdx.x >> 5] = v;
    __syncthreads();
    v = 0.0;
    for (int i = 0; i < warps; i++) v += room[i];
    return v;
}
