// The promoted urn: a word that joins a cluster brings its relatives along; the twin of coterie/kernels/_promote.py.
//
// `flag` says for every entry whether its word promotes; `given` what the entry's word has from the document's others,
// `promoted` all that a document promotes, both in units. They change only here.

#define OPENED -1.0  // as a rate: not there when the sweep began

struct Relations {
    const i64* ptr;
    const int* word;
    int promotion;
};

struct Entries {
    const i64* ptr;
    const int* word;
    const int* tally;
};

// best[w] = the largest chance of any cluster, by the counts the sweep begins with; a warp each.
extern "C" __global__ void note_best(
    const int* held, int width, i64 n_words, const double* beta, int beta_stride, double unit, const double* rate,
    double highest, double* best) {
    const int lane = threadIdx.x & 31;
    const i64 step = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 w = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); w < n_words; w += step) {
        const double b = beta[w * beta_stride];
        double most = highest * b;
        for (int k = lane; k < width; k += 32) {
            const int n = held[w * width + k];
            if (n > 0) most = fmax(most, rate[k] * (n * unit + b));
        }
        most = warp_max(most);
        if (lane == 0) best[w] = most;
    }
}

// A word's relatives in a cluster hold this much more; what that is in all.
__device__ __forceinline__ i64 spread(const Relations& r, int w, int k, int amount, int width, int* held) {
    for (i64 i = r.ptr[w]; i < r.ptr[w + 1]; i++) atomicAdd(held + (i64)r.word[i] * width + k, amount);
    return (r.ptr[w + 1] - r.ptr[w]) * amount;
}

__device__ __forceinline__ i64 warp_total(i64 v) {
    for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(~0u, v, step);
    return v;
}

// Fills given and promoted of one document from its flags, by one warp.
__device__ void give(
    const Entries& docs, const Relations& r, i64 d, int copies, const i64* pair_ptr, const int* giver, const int* taker,
    const u8* flag, int* given, i64* promoted, int lane) {
    const i64 begin = docs.ptr[d], end = docs.ptr[d + 1];
    i64 all = 0;
    for (i64 e = begin + lane; e < end; e += 32) {
        given[e] = 0;
        const int w = docs.word[e];
        if (flag[e]) all += (r.ptr[w + 1] - r.ptr[w]) * docs.tally[e] * copies * r.promotion;
    }
    all = warp_total(all);
    __syncwarp();
    for (i64 i = pair_ptr[d] + lane; i < pair_ptr[d + 1]; i += 32) {
        const i64 e = begin + giver[i];
        if (flag[e]) atomicAdd(given + begin + taker[i], docs.tally[e] * copies * r.promotion);
    }
    if (lane == 0) promoted[d] = all;
    __syncwarp();
}

// Fills given and promoted of all documents; with `held`, also adds what they promote to their clusters.
extern "C" __global__ void restore_promoted(
    const i64* ptr, const int* word, const int* tally, const int* copies_of, i64 n, const i64* relate_ptr,
    const int* relate_word, int promotion, const i64* pair_ptr, const int* giver, const int* taker, const u8* flag,
    int* given, i64* promoted, const int* z, int width, int* held, u64* total) {
    const Entries docs = {ptr, word, tally};
    const Relations r = {relate_ptr, relate_word, promotion};
    const int lane = threadIdx.x & 31;
    const i64 step = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 d = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); d < n; d += step) {
        const int copies = copies_of == nullptr ? 1 : copies_of[d];
        give(docs, r, d, copies, pair_ptr, giver, taker, flag, given, promoted, lane);
        if (held == nullptr) continue;
        for (i64 e = ptr[d] + lane; e < ptr[d + 1]; e += 32)
            if (flag[e]) spread(r, word[e], z[d], tally[e] * copies * promotion, width, held);
        if (lane == 0) atomicAdd(total + z[d], (u64)promoted[d]);
    }
}

// Draws the flags of documents that have moved, and moves what they promote; a warp each.
//
// A cluster that was there when the sweep began is judged by its counts of that time, one whose only document this is
// by the document's own words. Any other was opened since and is judged by its counts of the moment, which depend on
// who came before: those documents are marked in `late`, and drawn in their order (`in_order`), a warp for all that are
// in one cluster. Chain j then is list[starts[j]], ..., list[starts[j + 1] - 1].
extern "C" __global__ void promote_documents(
    const i64* ptr, const int* word, const int* tally, const int* length, const int* copies_of, const double* beta,
    int beta_stride, double beta_sum, double unit, int one, int n_seeds, const double* prior, const i64* relate_ptr,
    const int* relate_word, int promotion, const i64* pair_ptr, const int* giver, const int* taker, const int* scan,
    int scanned, i64 first, i64 n, const int* before, const int* z, int width, int* held, const i64* size, u64* total,
    double* rate, const double* best, const int* start, u8* flag, int* given, i64* promoted, u64 key, u64 sweep, u64 draw,
    const i64* list, const i64* starts, int in_order, u8* late, int* n_late) {
    const Entries docs = {ptr, word, tally};
    const Relations r = {relate_ptr, relate_word, promotion};
    const int lane = threadIdx.x & 31;
    const i64 step = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 j = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), i = in_order && j < n ? starts[j] : 0; j < n;) {
        const i64 place = in_order ? first + list[i] : first + j, d = scanned ? (i64)scan[place] : place;
        const int old = before[d], now = z[d], copies = copies_of[d];
        const bool alone = size[now] == copies && now >= n_seeds;
        const bool waits = !in_order && !alone && rate[now] == OPENED;
        const double weight = size[now] + prior[now];
        const double words = alone ? (double)length[d] * copies * one : (double)((volatile i64*)total)[now];
        const u64 random = address(key, sweep, d);
        i64 taken = 0, added = 0;
        for (i64 e = ptr[d] + lane; e < ptr[d + 1]; e += 32) {
            const int w = word[e];
            if (relate_ptr[w] == relate_ptr[w + 1]) continue;
            const int amount = tally[e] * copies * promotion;
            const double b = beta[(i64)w * beta_stride];
            bool after = false;
            if (!waits) {
                double chance;
                if (!alone && rate[now] != OPENED) {
                    chance = rate[now] * (start[(i64)w * width + now] * unit + b);
                } else {
                    const int held_now = alone ? tally[e] * copies * one : ((volatile int*)held)[(i64)w * width + now];
                    chance = weight / (words * unit + beta_sum) * (held_now * unit + b);
                }
                after = uniform_at(random, draw + (e - ptr[d])) * best[w] < chance;
            }
            const bool was = flag[e], stays = was && after && old == now;
            flag[e] = (u8)(after + 2 * (after && !stays));  // 3: still to be added
            if (was && !stays) taken += spread(r, w, old, -amount, width, held);
        }
        __syncwarp();  // a document in order adds nothing before all its chances are known
        for (i64 e = ptr[d] + lane; e < ptr[d + 1]; e += 32)
            if (flag[e] > 1) {
                flag[e] = 1;
                added += spread(r, word[e], now, tally[e] * copies * promotion, width, held);
            }
        taken = warp_total(taken);
        added = warp_total(added);
        if (lane == 0) {
            if (taken) atomicAdd(total + old, (u64)taken);
            if (added) atomicAdd(total + now, (u64)added);
            if (alone) rate[now] = OPENED;
            if (waits) {
                late[place - first] = 1;
                atomicAdd(n_late, 1);
            }
        }
        __syncwarp();
        if (!waits) give(docs, r, d, copies, pair_ptr, giver, taker, flag, given, promoted, lane);
        __threadfence();
        if (in_order && ++i < starts[j + 1]) continue;
        j += step;
        if (in_order && j < n) i = starts[j];
    }
}
