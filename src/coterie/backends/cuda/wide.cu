// The quick draw with more than 256 slots: a warp each, sums in shared memory.

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
    const i64* ptr, const int* pairs, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const u16* by_slot, i64 n_words, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const int* where, const int* store, float step,
    const int* z, const int* order, int processors, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    extern __shared__ int all_sums[];
    const Quick q = {ptr, (const int2*)pairs, length, beta, beta_stride, beta_sum, burstiness, n_seeds,
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
        if (length_row < 0 || error_of[d] > 1e8f) {
            if (lane == 0) give_up((int)d, list, n_listed);
            continue;
        }
        const First first_of_own = first_words(q, d, own, lane);
        add_whole<PIECES>(row_ptr[d], row_ptr[d + 1], row_of, where, pieces, width, lane, sums);
        __syncwarp();
        add_lists(row_ptr[d], row_ptr[d + 1], row_of, where, pieces, lane, sums);
        float own_error;
        const float of_own = own_score(
            q, first_of_own, d, own, lane, base[(i64)length_row * width + own], own_error);
        const float error = error_of[d], either = fmaxf(error, own_error);
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
            const float bound = either + (of_own == top ? own_error : error), rate = rate_of(bound);
#pragma unroll
            for (int p = 0; p < PIECES; p++) {
                whole[p] = 0.f;
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    weight[p][i] = weight_of(weight[p][i] - top, rate);
                    whole[p] += weight[p][i];
                }
            }
            float total = 0.f;
#pragma unroll
            for (int p = 0; p < PIECES; p++) {
                for (int s = 16; s; s >>= 1) whole[p] += __shfl_xor_sync(~0u, whole[p], s);
                total += whole[p];
            }
            const float fresh = weight_of(fresh_log - top, rate), x = u * (total + fresh);
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
                if (k < 0 || !is_sure(u, lower, mine, upper, either, k + 256 * at == own ? own_error : error, bound))
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
        const float bound = either + (of_own == top ? own_error : error), rate = rate_of(bound);
        float sum = 0.f;
        for (int k = first; k < last; k++) {
            const float weight = weight_of(score[k] - top, rate);
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
        const float fresh = weight_of(fresh_log - top, rate);
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
            if (k < 0 || !is_sure(u, lower, mine, upper, either, k == own ? own_error : error, bound)) give_up((int)d, list, n_listed);
        }
        __syncwarp();
    }
}

extern "C" __global__ void __launch_bounds__(256, 3) draw_wide_1024(
    const i64* ptr, const int* pairs, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const u16* by_slot, i64 n_words, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const int* where, const int* store, float step,
    const int* z, const int* order, int processors, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    wide<4>(
        ptr, pairs, length, beta, beta_stride, beta_sum, burstiness, n_seeds, size_prior, open_weight,
        cap, by_slot, n_words, width, size, total, prior, n_open, base, base_row, product, n_product,
        row_ptr, row_of, error_of, where, store, step, z, order, processors, n, key, sweep, draw, drawn,
        list, n_listed);
}

extern "C" __global__ void __launch_bounds__(256, 3) draw_wide(
    const i64* ptr, const int* pairs, const int* length,
    const double* beta, int beta_stride, double beta_sum, int burstiness, int n_seeds, double size_prior,
    double open_weight, double cap, const u16* by_slot, i64 n_words, int width, const i64* size, const i64* total,
    const double* prior, const i64* n_open, const float* base, const int* base_row, const float* product, int n_product,
    const i64* row_ptr, const int* row_of, const float* error_of, const int* where, const int* store, float step,
    const int* z, const int* order, int processors, i64 n, u64 key, u64 sweep, u64 draw, int* drawn, int* list, int* n_listed) {
    wide<1>(
        ptr, pairs, length, beta, beta_stride, beta_sum, burstiness, n_seeds, size_prior, open_weight,
        cap, by_slot, n_words, width, size, total, prior, n_open, base, base_row, product, n_product,
        row_ptr, row_of, error_of, where, store, step, z, order, processors, n, key, sweep, draw, drawn,
        list, n_listed);
}
