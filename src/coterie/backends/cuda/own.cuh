// The weight of a document's own cluster without the document, and how far it may be off.

#define EXACT_SHORT 0x6000  // the code of 4095, in 16 bits: larger counts are rounded
#define ROUNDED 2.5e-4f     // nats that a word may be off whose count is rounded, if a document has little of it
#define LITTLE 50.f         // ... less than one part in so many
#define LONGER 64.f         // words of a cluster for each of a document, from which it is taken out by the middle
#define OWN_AHEAD 4      // words of a lane that are asked for before the first is used

// A count in 16 bits: five of the exponent and eleven of the fraction of n + 1. Exact up to 4095; else n + 1 is off by one part
// in 4096 at most.
__device__ __forceinline__ u16 to_short(int n) {
    return (u16)((__float_as_uint((float)n + 1.f) - 0x3f800000u + 0x800u) >> 12);
}

__device__ __forceinline__ float from_short(u16 h) { return __uint_as_float(((unsigned)h << 12) + 0x3f800000u) - 1.f; }

// ln [ x (x+1) ... (x+n-1) ], by the middle of the range where x is large: off by 5e-8 n, and single precision.
__device__ __forceinline__ float quick_rising(float x, float n) {
    if (x < 4.f * n) return (float)log_rising(x, n);
    const float middle = x + 0.5f * (n - 1.f);
    const float square = middle * middle, third = n * (n * n - 1.f) / square;
    return n * logf(middle) - third / 24.f - third * (3.f * n * n - 7.f) / (960.f * square);
}

// How far the weight of the own cluster may be off: `nats` of its words were added up in single precision, in as many steps as a
// lane has entries, as a warp has halves, and as a word is repeated.
__device__ __forceinline__ float own_error(float nats, float rounded, float length, float entries) {
    const float steps = entries / 32.f + 6.f + (length - entries);
    return 2e-4f + 1e-5f * length + (6e-8f * steps + 5e-7f) * nats + ROUNDED * rounded;
}

struct Quick {
    const i64* ptr;
    const int2* pairs;  // words by their rank, and how often a document has them
    const int* length;
    const double* beta;  // of the ranks
    int beta_stride;
    double beta_sum;
    int burstiness;
    int n_seeds;
    const u16* by_slot;  // n_kw in 16 bits, slots x ranks: a document reads its own slot's row
    i64 n_words;
    const i64* size;
    const i64* total;
    const double* prior;
};

// What a word adds that a document has c times, where n others of it are in the cluster. One logarithm for four factors; if
// single precision does not hold their product (n^4 / b > 10^38), the weight is not finite, and the document drawn exactly.
__device__ __noinline__ float repeated(float n, float b, int c, int burstiness) {
    if (!burstiness) return c * __logf(1.f + __fdividef(n, b));
    float nats = 0.f;
    for (int i = 0; i < c; i += 4) {
        float above = 1.f, below = 1.f;
        for (int j = i; j < min(i + 4, c); j++) {
            above *= n + (b + j);
            below *= b + j;
        }
        nats += __logf(__fdividef(above, below));
    }
    return nats;
}

// A document's first words, a lane each, and how often its own cluster has them: asked for early, used late.
struct First {
    int c;
    u16 held;
    float b;
};

__device__ __forceinline__ First first_words(const Quick& q, i64 d, int own, int lane) {
    First f = {0, 0, 1.f};
    const i64 at = q.ptr[d] + lane;
    if (at < q.ptr[d + 1]) {
        const int2 pair = __ldcs(q.pairs + at);
        f.c = pair.y;
        f.held = q.by_slot[own * q.n_words + pair.x];
        f.b = (float)q.beta[(i64)pair.x * q.beta_stride];
    }
    return f;
}

// What the words of one lane add in their own cluster, and how many of them have counts that are rounded.
struct Own {
    float nats;
    float rounded;  // nats / ROUNDED that these may be off
};

__device__ __forceinline__ void add_own(const Quick& q, Own& sum, u16 held, float b, int c) {
    const float n = from_short(held) - c;
    if (c == 1) sum.nats += __logf(1.f + __fdividef(fmaxf(n, 0.f), b));
    else if (n > 0.f) sum.nats += repeated(n, b, c, q.burstiness);
    if (held > EXACT_SHORT) sum.rounded += c * LITTLE > n ? 1e13f : (float)c;
}

__device__ __noinline__ float small_base(float size, float words, float beta_sum, float length) {
    return logf(size) - quick_rising(words, length) + quick_rising(beta_sum, length);
}

// What a document adds to its own cluster's base term when it is taken out, by the middles of two rising factors: off by
// length^4 / (12 middle^3) nats, if `middle` (of the words without it) is LONGER times its length, length / 3e6.
__device__ __forceinline__ float taken_out(float size, float middle, float length) {
    return __logf(__fdividef(size, size + 1.f)) + length * __logf(1.f + __fdividef(length, middle));
}

// What else makes the log weight of the document's own cluster without it; `base` is that with it.
__device__ __forceinline__ float base_without(const Quick& q, i64 d, int own, float base) {
    const float size = (float)(q.size[own] - 1), prior = (float)q.prior[own], length = q.length[d];
    if (size + prior <= 0.f || (size <= 0.f && own >= q.n_seeds)) return -(float)INF;
    const float words = (float)((double)(q.total[own] - q.length[d]) + q.beta_sum), middle = words + 0.5f * (length - 1.f);
    if (middle > LONGER * length) return base + taken_out(size + prior, middle, length);
    return small_base(size + prior, words, (float)q.beta_sum, length);
}

// The log weight of the document's own cluster without it, by one warp: every lane gets it. -inf: alone there.
// `error` is how far it may be off: arithmetic in single precision, and rounded counts.
__device__ __forceinline__ float own_score(
    const Quick& q, const First& f, i64 d, int own, int lane, float base, float& error) {
    Own sum = {0.f, 0.f};
    if (f.c) add_own(q, sum, f.held, f.b, f.c);
    const u16* held = q.by_slot + own * q.n_words;
    const i64 begin = q.ptr[d], end = q.ptr[d + 1];
    const float same_b = (float)q.beta[0];
    for (i64 at = begin + 32 + lane; at < end; at += 32 * OWN_AHEAD) {
        int2 pair[OWN_AHEAD];
        u16 n[OWN_AHEAD];
#pragma unroll
        for (int i = 0; i < OWN_AHEAD; i++) pair[i] = at + 32 * i < end ? __ldcs(q.pairs + at + 32 * i) : make_int2(0, 0);
#pragma unroll
        for (int i = 0; i < OWN_AHEAD; i++) n[i] = held[pair[i].x];
#pragma unroll
        for (int i = 0; i < OWN_AHEAD; i++)
            if (pair[i].y) add_own(q, sum, n[i], q.beta_stride ? (float)q.beta[pair[i].x] : same_b, pair[i].y);
    }
    for (int step = 16; step; step >>= 1) sum.nats += __shfl_xor_sync(~0u, sum.nats, step);
    if (__any_sync(~0u, sum.rounded > 0.f))
        for (int step = 16; step; step >>= 1) sum.rounded += __shfl_xor_sync(~0u, sum.rounded, step);
    error = own_error(sum.nats, sum.rounded, (float)q.length[d], (float)(end - begin));
    return sum.nats + base_without(q, d, own, base);
}
