// A quick draw that knows how far it may be wrong. Documents whose draw could change are listed, and drawn exactly.
//
// The word part of a score is a sum over columns: the i-th occurrence of word w adds ln(1 + n_kw / (b_w + i)).
// Frequent columns are a matrix product in half precision, done before (`product`); others are rows of whole
// numbers, in steps of `step` nats; columns that few documents use are left out. Each part has a bound on its
// error, so `error` nats are known for which every true log weight lies within +- error of the one here.

typedef unsigned char u8;
typedef unsigned short u16;

#define OCCURRENCES 64  // columns of a word, at most; what repeats more often is left out
#define OWN_AHEAD 4      // words of a lane that are asked for before the first is used
#define RARE -1         // a column that is left out; below: -2 - (column of the product); above 0: a row

// Half precision without a header, which not every installation has.
__device__ __forceinline__ u16 to_half(float x) {
    u16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}

__device__ __forceinline__ float from_half(u16 h) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}

// ln [ x (x+1) ... (x+n-1) ] to about 1e-3, by the middle of the range where x is large.
__device__ __forceinline__ float quick_rising(float x, float n) {
    if (x < 4.f * n) return (float)log_rising(x, n);
    const float middle = x + 0.5f * (n - 1.f);
    return n * logf(middle) - n * (n * n - 1.f) / (24.f * middle * middle);
}

struct Quick {
    const i64* ptr;
    const int* word;
    const int* tally;
    const int* length;
    const double* beta;
    int beta_stride;
    double beta_sum;
    int burstiness;
    int n_seeds;
    const u16* by_slot;  // n_kw 2^-13 in half precision, slots x words: a document reads its own slot's row
    i64 n_words;
    const i64* size;
    const i64* total;
    const double* prior;
};

// What a word adds that a document has c times, where n others of it are in the cluster.
__device__ __noinline__ float repeated(float n, float b, int c, int burstiness) {
    if (!burstiness) return c * __logf(1.f + __fdividef(n, b));
    float nats = 0.f;
    for (int i = 0; i < c; i++) nats += __logf(1.f + __fdividef(n, b + i));
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
        const int w = q.word[at];
        f.c = q.tally[at];
        f.held = q.by_slot[own * q.n_words + w];
        f.b = (float)q.beta[(i64)w * q.beta_stride];
    }
    return f;
}

__device__ __forceinline__ float own_gain(const Quick& q, u16 held, float b, int c) {
    const float n = from_half(held) * 8192.f - c;
    if (c == 1) return __logf(1.f + __fdividef(fmaxf(n, 0.f), b));
    return n > 0.f ? repeated(n, b, c, q.burstiness) : 0.f;
}

// The log weight of the document's own cluster without it, by one warp: every lane gets it. -inf: alone there.
// Off by less than 0.01 and 2^-12 per word, the rounding of large counts.
__device__ __forceinline__ float own_score(const Quick& q, const First& f, i64 d, int own, int lane) {
    float nats = f.c ? own_gain(q, f.held, f.b, f.c) : 0.f;
    const u16* held = q.by_slot + own * q.n_words;
    const i64 end = q.ptr[d + 1];
    for (i64 at = q.ptr[d] + 32 + lane; at < end; at += 32 * OWN_AHEAD) {
        int w[OWN_AHEAD], c[OWN_AHEAD];
        u16 n[OWN_AHEAD];
        float b[OWN_AHEAD];
#pragma unroll
        for (int i = 0; i < OWN_AHEAD; i++) {
            const bool there = at + 32 * i < end;
            w[i] = there ? __ldcs(q.word + at + 32 * i) : 0;
            c[i] = there ? __ldcs(q.tally + at + 32 * i) : 0;
        }
#pragma unroll
        for (int i = 0; i < OWN_AHEAD; i++) {
            n[i] = held[w[i]];
            b[i] = (float)q.beta[(i64)w[i] * q.beta_stride];
        }
#pragma unroll
        for (int i = 0; i < OWN_AHEAD; i++)
            if (c[i]) nats += own_gain(q, n[i], b[i], c[i]);
    }
    for (int step = 16; step; step >>= 1) nats += __shfl_xor_sync(~0u, nats, step);
    const float size = (float)(q.size[own] - 1), prior = (float)q.prior[own], length = q.length[d];
    if (size + prior <= 0.f || (size <= 0.f && own >= q.n_seeds)) return -(float)INF;
    const float words = (float)((double)(q.total[own] - q.length[d]) + q.beta_sum);
    return nats + logf(size + prior) - quick_rising(words, length) + quick_rising((float)q.beta_sum, length);
}

// The share of the documents that a block takes: blocks that run on the same processor take neighbours, which are mostly
// of one cluster and find the same counts in its cache. Blocks are dealt to the processors in turn.
__device__ __forceinline__ i64 near(int processors) {
    return (i64)(blockIdx.x % processors) * (gridDim.x / processors) + blockIdx.x / processors;
}

// The next document of a block, for one warp: long documents hold up nobody else.
__device__ __forceinline__ int take_next(int* taken, int lane) {
    int mine = 0;
    if (lane == 0) mine = atomicAdd(taken, 1);
    return __shfl_sync(~0u, mine, 0);
}

// Whether u falls on the same cluster whatever the weights are within their errors: `before` and `after` are the weights
// of all clusters below and above it, off by a factor e^(+-error), `mine` its own, off by e^(+-other), other <= error.
// At worst one side is larger, and the other side and its own are smaller, by as much as they may be.
__device__ __forceinline__ bool is_certain(float u, float before, float mine, float after, float error, float other) {
    const float margin = 4e-6f, grown = __expf(fminf(error + other, 80.f)), shrunk = __expf(-fmaxf(error - other, 0.f));
    const float low = before * grown, high = after * grown;
    return u > low / (low + mine + after * shrunk) + margin &&
           u < (before * shrunk + mine) / (before * shrunk + mine + high) - margin;
}

__device__ __forceinline__ float error_of_mine(bool is_own, float error, const i64* ptr, i64 d) {
    return is_own ? fminf(error, 0.01f + 2.5e-4f * (float)(ptr[d + 1] - ptr[d])) : error;
}

// Leaves a document to the exact draw.
__device__ __forceinline__ void give_up(int place, int* list, int* n_listed) {
    list[atomicAdd(n_listed, 1)] = place;
}

// Draws from weights that 32 lanes hold, eight slots each, in the order of lanes. `below` and `above` are what lies in
// other slots on either side, `x` the number to reach. The winner's slot among these, or -1; and what is_certain asks for.
__device__ __forceinline__ int pick_of_eight(
    const float* weight, float below, float above, float x, int lane, float& lower, float& mine, float& upper) {
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += weight[i];
    float up_to = sum, from_here = sum;
    for (int s = 1; s < 32; s <<= 1) {
        const float l = __shfl_up_sync(~0u, up_to, s), r = __shfl_down_sync(~0u, from_here, s);
        if (lane >= s) up_to += l;
        if (lane + s < 32) from_here += r;
    }
    const unsigned past = __ballot_sync(~0u, below + up_to > x);
    lower = __shfl_up_sync(~0u, up_to, 1);
    upper = __shfl_down_sync(~0u, from_here, 1);
    lower = below + (lane ? lower : 0.f);
    upper = above + (lane < 31 ? upper : 0.f);
    mine = 0.f;
    int k = -1;
    if (past && lane == __ffs(past) - 1) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
            if (k >= 0) {
                upper += weight[i];
            } else if (lower + weight[i] > x) {
                k = lane * 8 + i;
                mine = weight[i];
            } else {
                lower += weight[i];
            }
        }
    }
    return k;
}

// ---------------------------------------------------------------- up to 256 slots: a warp each, rows of bytes
extern "C" __global__ void __launch_bounds__(256) draw_narrow(
    const i64* ptr, const int* word, const int* tally, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const u16* by_slot, i64 n_words, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const u8* rows, int row_bytes, float step,
    const int* z, const int* order, int processors, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    const Quick q = {ptr, word, tally, length, beta, beta_stride, beta_sum, burstiness, n_seeds,
                     by_slot, n_words, size, total, prior};
    const int lane = threadIdx.x & 31, half = lane >> 4, column = (lane & 15) * 16;
    const bool reads = column < row_bytes;
    const i64 per_block = (n + gridDim.x - 1) / gridDim.x, block = near(processors), stop_at = min(n, (block + 1) * per_block);
    __shared__ int taken;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    while (true) {
        const i64 j = block * per_block + take_next(&taken, lane);
        if (j >= stop_at) break;
        const i64 d = order[j];
        const int own = z[d], length_row = base_row[d];
        if (length_row < 0) {
            if (lane == 0) give_up((int)d, list, n_listed);
            continue;
        }
        const First first_of_own = first_words(q, d, own, lane);
        unsigned even[4] = {0, 0, 0, 0}, odd[4] = {0, 0, 0, 0};  // sums of bytes, two to a register
        float sums[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f};
        int added = 0;
        const i64 end = row_ptr[d + 1];
        i64 at = row_ptr[d];
        int next = at + lane < end ? __ldcs(row_of + at + lane) : 0;
        for (; at < end; at += 32) {
            const int mine = next;
            const int many = (int)min((i64)32, end - at);
            next = at + 32 + lane < end ? __ldcs(row_of + at + 32 + lane) : 0;
#pragma unroll 8
            for (int i = 0; i < many; i += 2) {
                const int row = __shfl_sync(~0u, mine, i + half);
                if (reads) {
                    const uint4 v = *(const uint4*)(rows + (u64)(unsigned)row * row_bytes + column);
                    even[0] += __byte_perm(v.x, 0, 0x4240);
                    odd[0] += __byte_perm(v.x, 0, 0x4341);
                    even[1] += __byte_perm(v.y, 0, 0x4240);
                    odd[1] += __byte_perm(v.y, 0, 0x4341);
                    even[2] += __byte_perm(v.z, 0, 0x4240);
                    odd[2] += __byte_perm(v.z, 0, 0x4341);
                    even[3] += __byte_perm(v.w, 0, 0x4240);
                    odd[3] += __byte_perm(v.w, 0, 0x4341);
                }
            }
            added += 16;
            if (added > 240 || at + 32 >= end) {  // before 257 bytes overflow: each lane keeps eight of its sixteen slots
                added = 0;
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const unsigned e = half ? even[i] : even[i + 2], o = half ? odd[i] : odd[i + 2];
                    const unsigned other_e = __shfl_xor_sync(~0u, e, 16), other_o = __shfl_xor_sync(~0u, o, 16);
                    const unsigned my_e = half ? even[i + 2] : even[i], my_o = half ? odd[i + 2] : odd[i];
                    sums[4 * i] += (float)((my_e & 0xffff) + (other_e & 0xffff));
                    sums[4 * i + 1] += (float)((my_o & 0xffff) + (other_o & 0xffff));
                    sums[4 * i + 2] += (float)((my_e >> 16) + (other_e >> 16));
                    sums[4 * i + 3] += (float)((my_o >> 16) + (other_o >> 16));
                }
#pragma unroll
                for (int i = 0; i < 4; i++) even[i] = odd[i] = 0;
            }
        }
        // lane L now takes the slots 8 L ..., which lane (L & 1) * 16 + L / 2 has
        float score[8];
        const int from = (lane & 1) * 16 + (lane >> 1), first = lane * 8;
#pragma unroll
        for (int i = 0; i < 8; i++) score[i] = __shfl_sync(~0u, sums[i], from) * step;
        const float of_own = own_score(q, first_of_own, d, own, lane);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int k = first + i;
            if (k < width) {
                score[i] += base[(i64)length_row * width + k];
                if (n_product) score[i] += __ldcs(product + d * n_product + k);
            } else {
                score[i] = -(float)INF;
            }
            if (k == own) score[i] = of_own;
        }
        const bool alone = size[own] <= 1 && own >= n_seeds;
        const float fresh_log = logf((float)(open_weight + size_prior * (cap - (double)(n_open[0] - alone))));
        float top = fresh_log;
#pragma unroll
        for (int i = 0; i < 8; i++) top = fmaxf(top, score[i]);
        for (int s = 16; s; s >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
        float total = 0.f;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            score[i] = __expf(score[i] - top);
            total += score[i];
        }
        for (int s = 16; s; s >>= 1) total += __shfl_xor_sync(~0u, total, s);
        const float fresh = __expf(fresh_log - top), u = (float)uniform(key, sweep, d, draw);
        float lower, mine, upper;
        const int k = pick_of_eight(score, 0.f, fresh, u * (total + fresh), lane, lower, mine, upper);
        const unsigned has = __ballot_sync(~0u, k >= 0);  // none: the exact draw decides whether a new cluster opens
        if (has ? k >= 0 : lane == 0) {
            drawn[d] = k;
            if (k < 0 || !is_certain(u, lower, mine, upper, error_of[d], error_of_mine(k == own, error_of[d], ptr, d))) give_up((int)d, list, n_listed);
        }
    }
}
