// A quick draw that knows how far it may be wrong. Documents whose draw could change are listed, and drawn exactly.
//
// The word part of a score is a sum over columns: the i-th occurrence of word w adds ln(1 + n_kw / (b_w + i)).
// Frequent columns are a matrix product in half precision, done before (`product`); others are rows of whole
// numbers, in steps of `step` nats; columns that few documents use are left out. Each part has a bound on its
// error, so `error` nats are known for which every true log weight lies within +- error of the one here.

typedef unsigned char u8;
typedef unsigned short u16;

#define OCCURRENCES 64  // columns of a word, at most; what repeats more often is left out
#define RARE -1         // a column that is left out; below: -2 - (column of the product); above 0: a row

// ln [ x (x+1) ... (x+n-1) ] to about 1e-3, by the middle of the range where x is large.
__device__ __forceinline__ double quick_rising(double x, double n) {
    if (x < 4.0 * n) return log_rising(x, n);
    const double middle = x + 0.5 * (n - 1.0);
    return n * log(middle) - n * (n * n - 1.0) / (24.0 * middle * middle);
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
    const int* held;
    int width;
    const i64* size;
    const i64* total;
    const double* prior;
};

// The log weight of the document's own cluster without it, by one warp: every lane gets it. -inf: alone there.
__device__ __forceinline__ float own_score(const Quick& q, i64 d, int own, int lane) {
    float nats = 0.f;
    for (i64 e = q.ptr[d] + lane; e < q.ptr[d + 1]; e += 32) {
        const i64 w = q.word[e];
        const int c = q.tally[e], n = q.held[w * q.width + own] - c;
        if (n <= 0) continue;
        const float b = (float)q.beta[w * q.beta_stride];
        if (c == 1 || !q.burstiness) {
            nats += c * __logf(1.f + n / b);
        } else {
            for (int i = 0; i < c; i++) nats += __logf(1.f + n / (b + i));
        }
    }
    for (int step = 16; step; step >>= 1) nats += __shfl_xor_sync(~0u, nats, step);
    const double size = (double)q.size[own] - 1.0, length = q.length[d];
    if (size + q.prior[own] <= 0.0 || (size <= 0.0 && own >= q.n_seeds)) return -(float)INF;
    const double words = (double)q.total[own] - length + q.beta_sum;
    return (float)(nats + log(size + q.prior[own]) - quick_rising(words, length) + quick_rising(q.beta_sum, length));
}

// Whether u falls on the same cluster whatever the weights are within a factor e^(+-error): `before` and `after`
// are the weights of all clusters below and above it, `mine` its own.
__device__ __forceinline__ bool is_certain(float u, float before, float mine, float after, float error) {
    const float margin = 4e-6f, factor = __expf(fminf(2.f * error, 80.f));
    const float low = before * factor, high = after * factor;
    return u > low / (low + mine + after) + margin && u < (before + mine) / (before + mine + high) - margin;
}

// Leaves a document to the exact draw.
__device__ __forceinline__ void give_up(int place, int* list, int* n_listed) {
    list[atomicAdd(n_listed, 1)] = place;
}

// ---------------------------------------------------------------- up to 256 slots: a warp each, rows of bytes
extern "C" __global__ void __launch_bounds__(256) draw_narrow(
    const i64* ptr, const int* word, const int* tally, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const int* held, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const u8* rows, int row_bytes, float step,
    const int* z, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    const Quick q = {ptr, word, tally, length, beta, beta_stride, beta_sum, burstiness, n_seeds,
                     held, width, size, total, prior};
    const int lane = threadIdx.x & 31, half = lane >> 4, column = (lane & 15) * 16;
    const bool reads = column < row_bytes;
    const i64 stride = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 d = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); d < n; d += stride) {
        const int own = z[d], length_row = base_row[d];
        if (length_row < 0) {
            if (lane == 0) give_up((int)d, list, n_listed);
            continue;
        }
        unsigned even[4] = {0, 0, 0, 0}, odd[4] = {0, 0, 0, 0};  // sums of bytes, two to a register
        float sums[8] = {0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f};
        int added = 0;
        const i64 end = row_ptr[d + 1];
        for (i64 at = row_ptr[d]; at < end; at += 32) {
            const int mine = at + lane < end ? row_of[at + lane] : 0;
            const int many = (int)min((i64)32, end - at);
#pragma unroll 8
            for (int i = 0; i < many; i += 2) {
                const int row = __shfl_sync(~0u, mine, i + half);
                if (reads) {
                    const uint4 v = *(const uint4*)(rows + (i64)row * row_bytes + column);
                    even[0] += v.x & 0x00ff00ffu;
                    odd[0] += (v.x >> 8) & 0x00ff00ffu;
                    even[1] += v.y & 0x00ff00ffu;
                    odd[1] += (v.y >> 8) & 0x00ff00ffu;
                    even[2] += v.z & 0x00ff00ffu;
                    odd[2] += (v.z >> 8) & 0x00ff00ffu;
                    even[3] += v.w & 0x00ff00ffu;
                    odd[3] += (v.w >> 8) & 0x00ff00ffu;
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
        const float of_own = own_score(q, d, own, lane);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int k = first + i;
            if (k < width) {
                score[i] += base[(i64)length_row * width + k];
                if (n_product) score[i] += product[d * n_product + k];
            } else {
                score[i] = -(float)INF;
            }
            if (k == own) score[i] = of_own;
        }
        const bool alone = size[own] <= 1 && own >= n_seeds;
        const float fresh_log = (float)log(open_weight + size_prior * (cap - (double)(n_open[0] - alone)));
        float top = fresh_log;
#pragma unroll
        for (int i = 0; i < 8; i++) top = fmaxf(top, score[i]);
        for (int s = 16; s; s >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, s));
        float sum = 0.f;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            score[i] = __expf(score[i] - top);
            sum += score[i];
        }
        float below = sum, above = sum;  // with its own, of the lanes up to here and from here on
        for (int s = 1; s < 32; s <<= 1) {
            const float l = __shfl_up_sync(~0u, below, s), r = __shfl_down_sync(~0u, above, s);
            if (lane >= s) below += l;
            if (lane + s < 32) above += r;
        }
        const float fresh = __expf(fresh_log - top), u = (float)uniform(key, sweep, d, draw);
        const float x = u * (__shfl_sync(~0u, below, 31) + fresh);
        const unsigned past = __ballot_sync(~0u, below > x);
        float lower = __shfl_up_sync(~0u, below, 1), upper = __shfl_down_sync(~0u, above, 1), mine = 0.f;
        lower = lane ? lower : 0.f;
        upper = (lane < 31 ? upper : 0.f) + fresh;
        if (lane == (past ? __ffs(past) - 1 : 0)) {
            int k = -1;
            const bool is_new = !past;  // the exact draw decides whether a new cluster opens
#pragma unroll
            for (int i = 0; i < 8; i++) {
                if (k >= 0) {
                    upper += score[i];
                } else if (lower + score[i] > x) {
                    k = first + i;
                    mine = score[i];
                } else {
                    lower += score[i];
                }
            }
            drawn[d] = k;
            if (is_new || k < 0 || !is_certain(u, lower, mine, upper, error_of[d])) give_up((int)d, list, n_listed);
        }
    }
}

// ---------------------------------------------------------------- more slots: a warp each, sums in shared memory
// A row is a list of (slot, steps) where few slots hold the word, else a step for every slot. `where` says which:
// its place in `store` in pieces of 16 bytes, and its length in pieces; a length below 0 is a whole row.
extern "C" __global__ void draw_wide(
    const i64* ptr, const int* word, const int* tally, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const int* held, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const int* where, const int* store, float step,
    const int* z, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    extern __shared__ int all_sums[];
    const Quick q = {ptr, word, tally, length, beta, beta_stride, beta_sum, burstiness, n_seeds,
                     held, width, size, total, prior};
    const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    int* sums = all_sums + (threadIdx.x >> 5) * (width + 4);
    float* score = (float*)sums;
    const uint4* pieces = (const uint4*)store;
    const int per = ((width + 31) / 32) | 1;  // odd: no two lanes read the same bank
    const int first = min(lane * per, width), last = min(first + per, width);
    for (i64 d = (i64)blockIdx.x * warps + (threadIdx.x >> 5); d < n; d += (i64)gridDim.x * warps) {
        const int own = z[d], length_row = base_row[d];
        if (length_row < 0) {
            if (lane == 0) give_up((int)d, list, n_listed);
            continue;
        }
        for (int k = lane * 4; k < width; k += 128) *(int4*)(sums + k) = make_int4(0, 0, 0, 0);
        __syncwarp();
        const i64 end = row_ptr[d + 1];
        for (i64 at = row_ptr[d]; at < end; at += 32) {
            const int mine = at + lane < end ? row_of[at + lane] : 0;
            const int2 place = ((const int2*)where)[mine];
            const int many = (int)min((i64)32, end - at);
            for (int i = 0; i < many; i += 4) {
                uint4 v[4];
                int from[4], n_pieces[4];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    from[j] = __shfl_sync(~0u, place.x, (i + j) & 31);
                    n_pieces[j] = i + j < many ? __shfl_sync(~0u, place.y, (i + j) & 31) : 0;
                    if (lane < abs(n_pieces[j])) v[j] = pieces[from[j] + lane];
                }
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    const int size_j = abs(n_pieces[j]);
                    for (int piece = lane; piece < size_j; piece += 32) {
                        const uint4 p = piece == lane ? v[j] : pieces[from[j] + piece];
                        if (n_pieces[j] > 0) {
                            sums[p.x & 0xffff] += p.x >> 16;
                            sums[p.y & 0xffff] += p.y >> 16;
                            sums[p.z & 0xffff] += p.z >> 16;
                            sums[p.w & 0xffff] += p.w >> 16;
                        } else {
                            int4* to = (int4*)(sums + piece * 8);
                            int4 a = to[0], b = to[1];
                            a.x += p.x & 0xffff, a.y += p.x >> 16, a.z += p.y & 0xffff, a.w += p.y >> 16;
                            b.x += p.z & 0xffff, b.y += p.z >> 16, b.z += p.w & 0xffff, b.w += p.w >> 16;
                            to[0] = a, to[1] = b;
                        }
                    }
                    __syncwarp();
                }
            }
        }
        const float of_own = own_score(q, d, own, lane);
        const bool alone = size[own] <= 1 && own >= n_seeds;
        const float fresh_log = (float)log(open_weight + size_prior * (cap - (double)(n_open[0] - alone)));
        float top = fresh_log;
        for (int k = lane * 4; k < width; k += 128) {
            const int4 s = *(const int4*)(sums + k);
            float4 v = *(const float4*)(base + (i64)length_row * width + k);
            v.x += s.x * step, v.y += s.y * step, v.z += s.z * step, v.w += s.w * step;
            if (n_product) {
                const float4 p = *(const float4*)(product + d * n_product + k);
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
        const float fresh = __expf(fresh_log - top), u = (float)uniform(key, sweep, d, draw);
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
            if (k < 0 || !is_certain(u, lower, mine, upper, error_of[d])) give_up((int)d, list, n_listed);
        }
        __syncwarp();
    }
}
