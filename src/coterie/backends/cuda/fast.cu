// A quick draw that knows how far it may be wrong. Documents whose draw could change are listed, and drawn exactly.
//
// The word part of a score is a sum over columns: the i-th occurrence of word w adds ln(1 + n_kw / (b_w + i)).
// Frequent columns are a matrix product in half precision, done before (`product`); others are rows of whole
// numbers, in steps of `step` nats; columns that few documents use are left out. Each part has a bound on its
// error, so `error` nats are known for which every true log weight lies within +- error of the one here. Rows of half
// bytes are dithered, so the errors of a sum are independent, and their bound is a multiple of its deviation.
// docs/inside/cuda.md derives the bounds.

#define OCCURRENCES 256  // columns of a word, at most; what repeats more often is left out
#define AT_ONCE 4       // rows that a lane asks for before it uses the first
#define RARE -1         // a column that is left out; below: -2 - (column of the product); above 0: a row
#define FAR 64.f        // nats of error from which weights are not compared in single precision
#define WHOLE_ROWS 4096  // rows that half bytes can sum in 16 bits

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
// of all clusters below and above it, off by a factor e^(+-error), `mine` its own, off by e^(+-other).
// At worst one side is larger, and the other side and its own are smaller, by as much as they may be.
__device__ __forceinline__ bool is_certain(float u, float before, float mine, float after, float error, float other) {
    if (!(error + other < FAR)) return false;  // weights so far apart are 0 in single precision
    const float margin = 4e-6f, grown = __expf(error + other), shrunk = __expf(-fmaxf(error - other, 0.f));
    const float low = before * grown, high = after * grown;
    return u > low / (low + mine + after * shrunk) + margin &&
           u < (before * shrunk + mine) / (before * shrunk + mine + high) - margin;
}

// A weight is 2^(rate x) for a score x nats from the largest (x <= 0), and 0 below 2^-126. Where scores may be off by less than
// FAR nats it is e^x: at most 6,145 weights are lost, and they come to 6,145 e^(FAR - 87) < 1e-6 at worst. Else the rate is such
// that a weight is 0 only if all of these are less than 6,145 e^-22 < 2e-6 of the largest, however far off they are.
__device__ __forceinline__ float rate_of(float bound) { return bound < FAR ? 1.44269504f : 126.f / (bound + 22.f); }

__device__ __forceinline__ float weight_of(float x, float rate) {
    float weight;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(weight) : "f"(x * rate));
    return weight;
}

// Whether the draw is certain, by weights of `weight_of`.
__device__ __forceinline__ bool is_sure(
    float u, float before, float mine, float after, float error, float other, float bound) {
    if (bound < FAR) return is_certain(u, before, mine, after, error, other);
    return before == 0.f && after == 0.f && u > 4e-6f && u < 1.f - 4e-6f;
}

// Leaves a document to the exact draw.
__device__ __forceinline__ void give_up(int place, int* list, int* n_listed) {
    list[atomicAdd(n_listed, 1)] = place;
}

// Notes the draw of a warp; -1: it is not certain.
__device__ __forceinline__ void draw_or_give_up(int k, i64 d, int lane, int* drawn, int* list, int* n_listed) {
    if (lane == 0) {
        if (k >= 0) drawn[d] = k;
        else give_up((int)d, list, n_listed);
    }
    __syncwarp();
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

// ---------------------------------------------------------------- up to 256 slots: a warp each, rows of half bytes
// Adds a document's rows, 256 slots over a warp: lane L gets slots 8 L, ..., 8 L + 7. Slot 2 i is in the lower half of byte i;
// eight lanes read a row, so four rows at a time. At most 4,369 rows: sums are kept in 16 bits.
__device__ __forceinline__ void add_halves(
    i64 at, i64 end, const int* row_of, const u8* rows, int row_bytes, int lane, float* score) {
    const int quarter = lane >> 3;
    const u8* column = rows + min((lane & 7) * 16, row_bytes - 16);
    unsigned sums[4][4];  // of slots (0, 4), (2, 6), (1, 5), (3, 7) of each eight, two to a register
    unsigned low[4] = {0, 0, 0, 0}, high[4] = {0, 0, 0, 0};  // four to a register, for 16 rows at most
#pragma unroll
    for (int i = 0; i < 4; i++) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0;
    int next = at + lane < end ? __ldcs(row_of + at + lane) : 0;
    bool full = false;
    for (; at < end; at += 32) {
        const int mine = next;  // 0 past the end: a row of zeros
        const int many = (int)min((i64)32, end - at);
        next = at + 32 + lane < end ? __ldcs(row_of + at + 32 + lane) : 0;
        for (int i = 0; i < many; i += 4 * AT_ONCE) {
            uint4 v[AT_ONCE];
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++)
                v[j] = *(const uint4*)(column + (u64)(unsigned)__shfl_sync(~0u, mine, i + 4 * j + quarter) * row_bytes);
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                low[0] += v[j].x & 0x0f0f0f0f, high[0] += (v[j].x >> 4) & 0x0f0f0f0f;
                low[1] += v[j].y & 0x0f0f0f0f, high[1] += (v[j].y >> 4) & 0x0f0f0f0f;
                low[2] += v[j].z & 0x0f0f0f0f, high[2] += (v[j].z >> 4) & 0x0f0f0f0f;
                low[3] += v[j].w & 0x0f0f0f0f, high[3] += (v[j].w >> 4) & 0x0f0f0f0f;
            }
        }
        if (full || at + 32 >= end) {  // 16 times 15 is still a byte
#pragma unroll
            for (int i = 0; i < 4; i++) {
                sums[i][0] += low[i] & 0xff00ff, sums[i][1] += (low[i] >> 8) & 0xff00ff;
                sums[i][2] += high[i] & 0xff00ff, sums[i][3] += (high[i] >> 8) & 0xff00ff;
                low[i] = high[i] = 0;
            }
        }
        full = !full;
    }
    unsigned kept[4];  // of the eight slots with the number of this quarter
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const bool upper = quarter & 2, right = quarter & 1;
        const unsigned a = (upper ? sums[2][j] : sums[0][j]) + __shfl_xor_sync(~0u, upper ? sums[0][j] : sums[2][j], 16);
        const unsigned b = (upper ? sums[3][j] : sums[1][j]) + __shfl_xor_sync(~0u, upper ? sums[1][j] : sums[3][j], 16);
        kept[j] = (right ? b : a) + __shfl_xor_sync(~0u, right ? a : b, 8);
    }
    const int from = (lane & 3) * 8 + (lane >> 2);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const unsigned both = __shfl_sync(~0u, kept[j], from);
        const int i = j < 2 ? 2 * j : 2 * j - 3;  // 0, 2, 1, 3
        score[i] += (float)(both & 0xffff);
        score[i + 4] += (float)(both >> 16);
    }
}

// What makes scores of steps.
struct Scores {
    const float* base;
    const float* product;
    int n_product;
    int width;
    int own;
    float of_own;
    float step;
};

__device__ __forceinline__ void load_eight(const float* from, float* to) {
    const float4 a = __ldcs((const float4*)from), b = __ldcs((const float4*)from + 1);
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w;
    to[4] = b.x, to[5] = b.y, to[6] = b.z, to[7] = b.w;
}

// The slot that u falls on for all weights within their errors, eight slots to a lane; -1: not certain, or a new cluster.
// A score is (times steps + shift) step, and what base and product say.
__device__ __forceinline__ int surely_drawn(
    const Scores& of, const float* steps, float times, float shift, float fresh_log, float u, float error,
    float own_error, int lane) {
    float score[8], base[8] = {}, product[8] = {};
    const bool there = lane * 8 < of.width;
    if (there) load_eight(of.base + lane * 8, base);
    if (there && of.n_product) load_eight(of.product + lane * 8, product);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        score[i] = there ? (times * steps[i] + shift) * of.step + base[i] + product[i] : -(float)INF;
        if (lane * 8 + i == of.own) score[i] = of.of_own;
    }
    float top = fresh_log;
#pragma unroll
    for (int i = 0; i < 8; i++) top = fmaxf(top, score[i]);
    for (int s = 16; s; s >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
    const float either = fmaxf(error, own_error), bound = either + (of.of_own == top ? own_error : error);
    const float rate = rate_of(bound);
    float total = 0.f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        score[i] = weight_of(score[i] - top, rate);
        total += score[i];
    }
    for (int s = 16; s; s >>= 1) total += __shfl_xor_sync(~0u, total, s);
    const float fresh = weight_of(fresh_log - top, rate);
    float lower, mine, upper;
    const int k = pick_of_eight(score, 0.f, fresh, u * (total + fresh), lane, lower, mine, upper);
    const bool sure = k >= 0 && is_sure(u, lower, mine, upper, either, k == of.own ? own_error : error, bound);
    const unsigned who = __ballot_sync(~0u, sure);
    return who ? __shfl_sync(~0u, k, __ffs(who) - 1) : -1;
}

// Draws the n documents in `order`. A row is whole numbers of steps in a byte: `rows` has the upper halves of these bytes, and
// `fine` the lower ones, which are read where the upper ones leave a document uncertain.
extern "C" __global__ void __launch_bounds__(256, 4) draw_narrow(
    const i64* ptr, const int* pairs, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const u16* by_slot, i64 n_words, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const float* half_error_of, const u8* rows,
    const u8* fine, int row_bytes, const float* shift_of, float step, const int* z, const int* order, int processors,
    i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    const Quick q = {ptr, (const int2*)pairs, length, beta, beta_stride, beta_sum, burstiness, n_seeds,
                     by_slot, n_words, size, total, prior};
    const int lane = threadIdx.x & 31;
    const i64 per_block = (n + gridDim.x - 1) / gridDim.x, block = near(processors), stop_at = min(n, (block + 1) * per_block);
    __shared__ int taken;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    while (true) {
        const i64 j = block * per_block + take_next(&taken, lane);
        if (j >= stop_at) break;
        const i64 d = order[j];
        const int own = z[d], length_row = base_row[d];
        if (length_row < 0 || error_of[d] > 1e8f) {
            draw_or_give_up(-1, d, lane, drawn, list, n_listed);
            continue;
        }
        const First first_of_own = first_words(q, d, own, lane);
        const i64 begin = row_ptr[d], end = row_ptr[d + 1];
        float steps[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f}, own_error;
        const float* base_of = base + (i64)length_row * width;
        const float of_own = own_score(q, first_of_own, d, own, lane, base_of[own], own_error);
        add_halves(begin, min(begin + WHOLE_ROWS, end), row_of, rows, row_bytes, lane, steps);
        const bool alone = size[own] <= 1 && own >= n_seeds;
        const float fresh_log = logf((float)(open_weight + size_prior * (cap - (double)(n_open[0] - alone))));
        const Scores of = {base_of, product + (n_product ? d * n_product : 0), n_product, width, own, of_own, step};
        const float u = (float)uniform(key, sweep, d, draw);
        const float middle = 7.5f * (end - begin);  // of what the lower halves can be
        int k = surely_drawn(of, steps, 16.f, shift_of[d] + middle, fresh_log, u, half_error_of[d], own_error, lane);
        if (k < 0) {
#pragma unroll 1
            for (int part = 0; part < 2; part++) {  // first the rest of the upper halves, in documents with many rows
                for (i64 at = part ? begin : begin + WHOLE_ROWS; at < end; at += WHOLE_ROWS)
                    add_halves(at, min(at + WHOLE_ROWS, end), row_of, part ? fine : rows, row_bytes, lane, steps);
#pragma unroll
                for (int i = 0; i < 8; i++) steps[i] *= part ? 1.f : 16.f;
            }
            k = surely_drawn(of, steps, 1.f, shift_of[d], fresh_log, u, error_of[d], own_error, lane);
        }
        draw_or_give_up(k, d, lane, drawn, list, n_listed);
    }
}
