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

// ---------------------------------------------------------------- more slots: a warp each, sums in shared memory
// Sums of the rows that are whole, in registers: lane L has the slots 8 L ... of every 256. Writes all sums.
template <int PIECES>
__device__ __forceinline__ void add_whole(
    i64 begin, i64 end, const int* row_of, const int* where, const uint4* pieces, int width, int lane, int* sums) {
    int held[PIECES][8];
#pragma unroll
    for (int p = 0; p < PIECES; p++)
#pragma unroll
        for (int i = 0; i < 8; i++) held[p][i] = 0;
    const int n_pieces = width / 8;
    for (i64 at = begin; at < end; at += 32) {
        const int2 place = at + lane < end ? ((const int2*)where)[row_of[at + lane]] : make_int2(0, 0);
        unsigned left = __ballot_sync(~0u, place.y < 0);
        while (left) {
            const int from = __shfl_sync(~0u, place.x, __ffs(left) - 1);
            left &= left - 1;
            uint4 v[PIECES];
#pragma unroll
            for (int p = 0; p < PIECES; p++)
                v[p] = lane + 32 * p < n_pieces ? pieces[from + lane + 32 * p] : make_uint4(0, 0, 0, 0);
#pragma unroll
            for (int p = 0; p < PIECES; p++) {
                held[p][0] += v[p].x & 0xffff, held[p][1] += v[p].x >> 16;
                held[p][2] += v[p].y & 0xffff, held[p][3] += v[p].y >> 16;
                held[p][4] += v[p].z & 0xffff, held[p][5] += v[p].z >> 16;
                held[p][6] += v[p].w & 0xffff, held[p][7] += v[p].w >> 16;
            }
        }
    }
#pragma unroll
    for (int p = 0; p < PIECES; p++)
        if (lane + 32 * p < n_pieces) {
            int4* to = (int4*)(sums + (lane + 32 * p) * 8);
            to[0] = make_int4(held[p][0], held[p][1], held[p][2], held[p][3]);
            to[1] = make_int4(held[p][4], held[p][5], held[p][6], held[p][7]);
        }
    for (int k = 256 * PIECES + lane; k < width; k += 32) sums[k] = 0;  // none: the widest has no whole rows
}

// Adds the rows that are lists: four are asked for before the first is used. Whole numbers: any order will do.
__device__ __forceinline__ void add_lists(
    i64 begin, i64 end, const int* row_of, const int* where, const uint4* pieces, int lane, int* sums) {
    for (i64 at = begin; at < end; at += 32) {
        const int2 place = at + lane < end ? ((const int2*)where)[row_of[at + lane]] : make_int2(0, 0);
        unsigned left = __ballot_sync(~0u, place.y > 0);
        while (left) {
            uint4 v[4];
            int from[4], many[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int next = left ? __ffs(left) - 1 : 0;
                from[j] = __shfl_sync(~0u, place.x, next);
                many[j] = __shfl_sync(~0u, place.y, next);
                many[j] = left ? many[j] : 0;
                left &= left - 1;
                if (lane < many[j]) v[j] = pieces[from[j] + lane];
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                for (int piece = lane; piece < many[j]; piece += 32) {
                    const uint4 p = piece == lane ? v[j] : pieces[from[j] + piece];
                    atomicAdd(sums + (p.x & 0xffff), p.x >> 16);
                    atomicAdd(sums + (p.y & 0xffff), p.y >> 16);
                    atomicAdd(sums + (p.z & 0xffff), p.z >> 16);
                    atomicAdd(sums + (p.w & 0xffff), p.w >> 16);
                }
            }
        }
    }
    __syncwarp();
}

// A row is a list of (slot, steps) where few slots hold the word, else a step for every slot. `where` says which:
// its place in `store` in pieces of 16 bytes, and its length in pieces; a length below 0 is a whole row.
template <int PIECES>
__device__ __forceinline__ void wide(
    const i64* ptr, const int* word, const int* tally, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const u16* by_slot, i64 n_words, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const int* where, const int* store, float step,
    const int* z, const int* order, int processors, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    extern __shared__ int all_sums[];
    const Quick q = {ptr, word, tally, length, beta, beta_stride, beta_sum, burstiness, n_seeds,
                     by_slot, n_words, size, total, prior};
    const int lane = threadIdx.x & 31;
    int* sums = all_sums + (threadIdx.x >> 5) * (width + 4);
    float* score = (float*)sums;
    const uint4* pieces = (const uint4*)store;
    const int per = ((width + 31) / 32) | 1;  // odd: no two lanes read the same bank
    const int first = min(lane * per, width), last = min(first + per, width);
    const i64 per_block = (n + gridDim.x - 1) / gridDim.x, block = near(processors), stop_at = min(n, (block + 1) * per_block);
    for (i64 j = block * per_block + (threadIdx.x >> 5); j < stop_at; j += blockDim.x >> 5) {
        const i64 d = order[j];
        const int own = z[d], length_row = base_row[d];
        if (length_row < 0) {
            if (lane == 0) give_up((int)d, list, n_listed);
            continue;
        }
        const First first_of_own = first_words(q, d, own, lane);
        add_whole<PIECES>(row_ptr[d], row_ptr[d + 1], row_of, where, pieces, width, lane, sums);
        __syncwarp();
        add_lists(row_ptr[d], row_ptr[d + 1], row_of, where, pieces, lane, sums);
        const float of_own = own_score(q, first_of_own, d, own, lane);
        const bool alone = size[own] <= 1 && own >= n_seeds;
        const float fresh_log = logf((float)(open_weight + size_prior * (cap - (double)(n_open[0] - alone))));
        const float u = (float)uniform(key, sweep, d, draw);
        if constexpr (PIECES > 1) {
            float weight[PIECES][8], whole[PIECES], top = fresh_log;
#pragma unroll
            for (int p = 0; p < PIECES; p++) {
                const int k = (lane + 32 * p) * 8;
                if (k < width) {
                    const int4 a = *(const int4*)(sums + k), b = *(const int4*)(sums + k + 4);
                    const float4 c = *(const float4*)(base + (i64)length_row * width + k);
                    const float4 e = *(const float4*)(base + (i64)length_row * width + k + 4);
                    weight[p][0] = c.x + a.x * step, weight[p][1] = c.y + a.y * step;
                    weight[p][2] = c.z + a.z * step, weight[p][3] = c.w + a.w * step;
                    weight[p][4] = e.x + b.x * step, weight[p][5] = e.y + b.y * step;
                    weight[p][6] = e.z + b.z * step, weight[p][7] = e.w + b.w * step;
#pragma unroll
                    for (int i = 0; i < 8; i++) {
                        if (n_product) weight[p][i] += __ldcs(product + d * n_product + k + i);
                        if (k + i == own) weight[p][i] = of_own;
                        top = fmaxf(top, weight[p][i]);
                    }
                } else {
#pragma unroll
                    for (int i = 0; i < 8; i++) weight[p][i] = -(float)INF;
                }
            }
            for (int s = 16; s; s >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
#pragma unroll
            for (int p = 0; p < PIECES; p++) {
                whole[p] = 0.f;
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    weight[p][i] = __expf(weight[p][i] - top);
                    whole[p] += weight[p][i];
                }
            }
            float total = 0.f;
#pragma unroll
            for (int p = 0; p < PIECES; p++) {
                for (int s = 16; s; s >>= 1) whole[p] += __shfl_xor_sync(~0u, whole[p], s);
                total += whole[p];
            }
            const float fresh = __expf(fresh_log - top), x = u * (total + fresh);
            float below = 0.f, chosen[8], above = fresh;
            int at = -1;
#pragma unroll
            for (int p = 0; p < PIECES; p++) {
                if (at >= 0) {
                    above += whole[p];
                } else if (below + whole[p] > x) {
                    at = p;
#pragma unroll
                    for (int i = 0; i < 8; i++) chosen[i] = weight[p][i];
                } else {
                    below += whole[p];
                }
            }
            float lower, mine, upper;
            const int k = at < 0 ? -1 : pick_of_eight(chosen, below, above, x, lane, lower, mine, upper);
            const unsigned has = __ballot_sync(~0u, k >= 0);
            if (has ? k >= 0 : lane == 0) {
                drawn[d] = k + 256 * at;
                if (k < 0 || !is_certain(u, lower, mine, upper, error_of[d], error_of_mine(k + 256 * at == own, error_of[d], ptr, d)))
                    give_up((int)d, list, n_listed);
            }
            __syncwarp();
            continue;
        }
        float top = fresh_log;
        for (int k = lane * 4; k < width; k += 128) {
            const int4 s = *(const int4*)(sums + k);
            float4 v = *(const float4*)(base + (i64)length_row * width + k);
            v.x += s.x * step, v.y += s.y * step, v.z += s.z * step, v.w += s.w * step;
            if (n_product) {
                const float4 p = __ldcs((const float4*)(product + d * n_product + k));
                v.x += p.x, v.y += p.y, v.z += p.z, v.w += p.w;
            }
            if (own == k) v.x = of_own;
            if (own == k + 1) v.y = of_own;
            if (own == k + 2) v.z = of_own;
            if (own == k + 3) v.w = of_own;
            top = fmaxf(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), top);
            *(float4*)(score + k) = v;
        }
        for (int s = 16; s; s >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
        __syncwarp();
        float sum = 0.f;
        for (int k = first; k < last; k++) {
            const float weight = __expf(score[k] - top);
            score[k] = weight;
            sum += weight;
        }
        float below = sum, above = sum;
        for (int s = 1; s < 32; s <<= 1) {
            const float l = __shfl_up_sync(~0u, below, s), r = __shfl_down_sync(~0u, above, s);
            if (lane >= s) below += l;
            if (lane + s < 32) above += r;
        }
        __syncwarp();
        const float fresh = __expf(fresh_log - top);
        const float x = u * (__shfl_sync(~0u, below, 31) + fresh);
        const unsigned past = __ballot_sync(~0u, below > x);
        if (!past) {
            if (lane == 0) give_up((int)d, list, n_listed);
            __syncwarp();
            continue;
        }
        const int winner = __ffs(past) - 1;
        float lower = __shfl_sync(~0u, below, max(winner - 1, 0)), upper = __shfl_sync(~0u, above, min(winner + 1, 31));
        lower = winner ? lower : 0.f;
        upper = (winner < 31 ? upper : 0.f) + fresh;
        const int begin = winner * per, stop = min(begin + per, width);
        int k = -1;
        float mine = 0.f;
        for (int at = begin; at < stop; at += 32) {  // all lanes look through the winner's slots
            const float weight = at + lane < stop ? score[at + lane] : 0.f;
            float up_to = weight, from_here = weight;
            for (int s = 1; s < 32; s <<= 1) {
                const float l = __shfl_up_sync(~0u, up_to, s), r = __shfl_down_sync(~0u, from_here, s);
                if (lane >= s) up_to += l;
                if (lane + s < 32) from_here += r;
            }
            const float whole = __shfl_sync(~0u, up_to, 31);
            const unsigned over = k < 0 ? __ballot_sync(~0u, lower + up_to > x) : 0;
            if (k >= 0) {
                upper += whole;
            } else if (over) {
                const int at_lane = __ffs(over) - 1;
                k = at + at_lane;
                mine = __shfl_sync(~0u, weight, at_lane);
                const float l = __shfl_sync(~0u, up_to, max(at_lane - 1, 0));
                const float r = __shfl_sync(~0u, from_here, min(at_lane + 1, 31));
                lower += at_lane ? l : 0.f;
                upper += at_lane < 31 ? r : 0.f;
            } else {
                lower += whole;
            }
        }
        if (lane == 0) {
            drawn[d] = k;
            if (k < 0 || !is_certain(u, lower, mine, upper, error_of[d], error_of_mine(k == own, error_of[d], ptr, d))) give_up((int)d, list, n_listed);
        }
        __syncwarp();
    }
}

extern "C" __global__ void __launch_bounds__(256, 3) draw_wide_1024(
    const i64* ptr, const int* word, const int* tally, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const u16* by_slot, i64 n_words, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const int* where, const int* store, float step,
    const int* z, const int* order, int processors, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    wide<4>(
        ptr, word, tally, length, beta, beta_stride, beta_sum, burstiness, n_seeds, size_prior, open_weight,
        cap, by_slot, n_words, width, size, total, prior, n_open, base, base_row, product, n_product,
        row_ptr, row_of, error_of, where, store, step, z, order, processors, n, key, sweep, draw, drawn,
        list, n_listed);
}

extern "C" __global__ void __launch_bounds__(256, 3) draw_wide(
    const i64* ptr, const int* word, const int* tally, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const u16* by_slot, i64 n_words, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const int* where, const int* store, float step,
    const int* z, const int* order, int processors, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    wide<1>(
        ptr, word, tally, length, beta, beta_stride, beta_sum, burstiness, n_seeds, size_prior, open_weight,
        cap, by_slot, n_words, width, size, total, prior, n_open, base, base_row, product, n_product,
        row_ptr, row_of, error_of, where, store, step, z, order, processors, n, key, sweep, draw, drawn,
        list, n_listed);
}

// out[k, w] = held[w, k] 2^-13 in half precision (exact up to 2048), by tiles of 32 x 32; blocks of 256 threads.
extern "C" __global__ void transpose_counts(const int* held, int width, i64 n_words, u16* out) {
    __shared__ int tile[32][33];
    const int x = threadIdx.x & 31, y = threadIdx.x >> 5, first_slot = blockIdx.y * 32;
    const i64 first_word = (i64)blockIdx.x * 32;
    for (int i = y; i < 32; i += 8)
        if (first_word + i < n_words && first_slot + x < width) tile[i][x] = held[(first_word + i) * width + first_slot + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8)
        if (first_slot + i < width && first_word + x < n_words) out[(first_slot + i) * n_words + first_word + x] =
            to_half(tile[x][i] * 0x1.0p-13f);
}
