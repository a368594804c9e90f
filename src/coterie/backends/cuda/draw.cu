// Blocked draws: every document against the same counts, each without itself, by the rule in coterie/_rng.py.

// The log weight of a new cluster for g documents: all empty ones together.
__device__ __forceinline__ double log_fresh(const Prior& urn, double n_open, int copies) {
    const double n_empty = urn.cap - n_open;
    if (copies == 1) return log(urn.open_weight + urn.size_prior * n_empty);
    const double process = urn.open_weight > 0.0 ? log(urn.open_weight) + lgamma((double)copies) : -INF;
    const double finite =
        n_empty > 0.0 && urn.size_prior > 0.0 ? log(n_empty) + log_rising(urn.size_prior, copies) : -INF;
    const double top = fmax(process, finite);
    return top == -INF ? -INF : top + log(exp(process - top) + exp(finite - top));
}

// The first slot whose cumulated weight is above u times the total, -1 for a new cluster. Overwrites score.
__device__ int pick(double* score, int width, double fresh_log, double u, int own, bool alone, double* room) {
    __shared__ double cumulated[257];
    __shared__ int found;
    const int t = threadIdx.x, n = blockDim.x;
    const int per = (width + n - 1) / n, first = min(t * per, width), last = min(first + per, width);
    double top = fresh_log;
    for (int k = first; k < last; k++) top = fmax(top, score[k]);
    top = block_max(top, room);
    if (top == -INF) return own;  // nobody else is there, and no cluster may open
    double sum = 0.0;
    for (int k = first; k < last; k++) {
        const double weight = exp(score[k] - top);
        score[k] = weight;
        sum += weight;
    }
    double up_to = sum;  // inclusive within the warp
    for (int step = 1; step < 32; step <<= 1) {
        const double other = __shfl_up_sync(~0u, up_to, step);
        if ((t & 31) >= step) up_to += other;
    }
    __syncthreads();
    if ((t & 31) == 31) room[t >> 5] = up_to;
    if (t == 0) found = 1 << 30;
    __syncthreads();
    double before = 0.0;
    for (int i = 0; i < (t >> 5); i++) before += room[i];
    cumulated[t + 1] = before + up_to;
    if (t == 0) cumulated[0] = 0.0;
    __syncthreads();
    const double total = cumulated[n], fresh = fresh_log > -INF ? exp(fresh_log - top) : 0.0;
    double x = u * (total + fresh);
    if (fresh == 0.0) x = fmin(x, total * (1.0 - 0x1.0p-50));  // rounding must not run past the end
    if (x < total) {
        if (cumulated[t] <= x && x < cumulated[t + 1]) {
            double sofar = cumulated[t];
            int k = first, held = -1;
            for (; k < last; k++) {
                sofar += score[k];
                if (score[k] > 0.0) held = k;
                if (sofar > x && score[k] > 0.0) break;
            }
            if (k < last) atomicMin(&found, k);
            else if (held >= 0) atomicMin(&found, held);
        }
        __syncthreads();
        if (found < (1 << 30)) return found;
        return own;
    }
    return alone ? own : -1;
}

extern "C" __global__ void __launch_bounds__(256, 3) draw_exact(
    const i64* ptr, const int* word, const int* tally, const int* length, const int* copies_of,
    const double* beta, const double* inv_beta, int beta_stride, double beta_sum, double unit, int one, int burstiness, int n_seeds,
    double size_prior, double open_weight, double cap, double kappa, double rho,
    const int* held, int width, const i64* size, const i64* total, const double* prior, const double* norm,
    const double* base, const int* base_row, const float* dots, const double* own_norm,
    const int* z, const int* scan, int scanned, i64 first, i64 n_given, const int* list, const int* n_listed,
    int listed, const i64* n_open, u64 key, u64 sweep, u64 draw, int flush, double* scratch, int* drawn, int* n_new) {
    extern __shared__ double shared[];
    __shared__ double room[32];
    const Corpus docs = {ptr, word, tally, length, copies_of};
    const Prior urn = {beta, inv_beta, beta_stride, beta_sum, unit, one, burstiness, n_seeds,
                       size_prior, open_weight, cap, kappa, rho};
    const Slots slots = {held, width, size, total, prior, norm};
    double* score = scratch != nullptr ? scratch + (i64)blockIdx.x * width : shared;
    const i64 n = listed ? (i64)n_listed[0] : n_given;
    for (i64 j = blockIdx.x; j < n; j += gridDim.x) {
        const i64 place = listed ? (i64)list[j] : first + j;
        const i64 d = scanned ? (i64)scan[place] : place;
        const int own = z[d], copies = copies_of[d];
        const double* row = base_row[d] >= 0 ? base + (i64)base_row[d] * width : nullptr;
        const float* dot = kappa > 0.0 ? dots + j * width : nullptr;
        const double squared = kappa > 0.0 ? (double)copies * copies * own_norm[d] : 0.0;
        weigh_words(docs, urn, slots, d, own, copies, flush, 0, score);
        weigh_slots(docs, urn, slots, d, own, copies, row, dot, squared, 0, score);
        __syncthreads();
        const bool alone = size[own] == copies && own >= n_seeds;
        const double fresh = log_fresh(urn, (double)(n_open[0] - alone), copies);
        const int k = pick(score, width, fresh, uniform(key, sweep, d, draw), own, alone, room);
        if (threadIdx.x == 0) {
            drawn[place] = k;
            if (k < 0) atomicAdd(n_new, 1);
        }
        __syncthreads();
    }
}

// Log weights against frozen clusters, documents x clusters; `own` < 0: the document is in none.
extern "C" __global__ void score_documents(
    const i64* ptr, const int* word, const int* tally, const int* length,
    const double* beta, const double* inv_beta, int beta_stride, double beta_sum, double unit, int one, int burstiness,
    double kappa, double rho, const int* held, int width, const i64* size, const i64* total,
    const double* prior, const double* norm, const float* dots, const double* own_norm,
    const int* own_of, i64 first, i64 n, int at_mean, int flush, int n_clusters, double* scratch, double* out) {
    extern __shared__ double shared[];
    const Corpus docs = {ptr, word, tally, length, nullptr};
    const Prior urn = {beta, inv_beta, beta_stride, beta_sum, unit, one, burstiness, width, 0.0, 0.0, 0.0, kappa, rho};
    const Slots slots = {held, width, size, total, prior, norm};
    double* score = scratch != nullptr ? scratch + (i64)blockIdx.x * width : shared;
    for (i64 j = blockIdx.x; j < n; j += gridDim.x) {
        const i64 d = first + j;
        const float* dot = kappa > 0.0 ? dots + j * width : nullptr;
        weigh_words(docs, urn, slots, d, own_of[d], 1, flush, at_mean, score);
        weigh_slots(docs, urn, slots, d, own_of[d], 1, nullptr, dot, kappa > 0.0 ? own_norm[d] : 0.0, at_mean, score);
        __syncthreads();
        for (int k = threadIdx.x; k < n_clusters; k += blockDim.x) out[j * n_clusters + k] = score[k];
        __syncthreads();
    }
}

// out[i] = uniform(key, sweep, first + i, draw): what the tests compare with coterie/_rng.py.
extern "C" __global__ void uniforms(u64 key, u64 sweep, u64 first, u64 draw, i64 n, double* out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = uniform(key, sweep, first + i, draw);
}
