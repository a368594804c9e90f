// The counts that follow from the labels: moved with the documents, derived again, summed for the trace.

// Documents that were drawn away take their words, sizes and label along; a warp each. z < 0: from nowhere.
extern "C" __global__ void move_documents(
    const i64* ptr, const int* word, const int* tally, const int* length, const int* copies_of, int one,
    const int* scan, int scanned, i64 first, i64 n, const int* drawn, int* z, int width, int* held,
    u64* size, u64* total, u64* moved, const float* vectors, int n_dimensions, double* sums) {
    const int lane = threadIdx.x & 31;
    const i64 step = (i64)gridDim.x * (blockDim.x >> 5);
    u64 n_moved = 0;
    for (i64 j = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); j < n; j += step) {
        const i64 place = first + j, d = scanned ? (i64)scan[place] : place;
        const int old = z[d], now = drawn[place];
        if (old == now) continue;
        const int copies = copies_of[d];
        for (i64 e = ptr[d] + lane; e < ptr[d + 1]; e += 32) {
            const int amount = tally[e] * copies * one;
            int* row = held + (i64)word[e] * width;
            if (old >= 0) atomicSub(row + old, amount);
            atomicAdd(row + now, amount);
        }
        for (int i = lane; i < n_dimensions; i += 32) {
            const double amount = (double)copies * vectors[d * n_dimensions + i];
            if (old >= 0) atomicAdd(sums + (i64)old * n_dimensions + i, -amount);
            atomicAdd(sums + (i64)now * n_dimensions + i, amount);
        }
        __syncwarp();
        if (lane == 0) {
            const u64 words = (u64)length[d] * copies * one;
            z[d] = now;
            if (old >= 0) {
                atomicAdd(size + old, -(u64)copies);
                atomicAdd(total + old, -words);
            }
            atomicAdd(size + now, (u64)copies);
            atomicAdd(total + now, words);
            n_moved += copies;
        }
    }
    if (lane == 0 && n_moved) atomicAdd(moved, n_moved);
}

// counters[0] = open slots.
extern "C" __global__ void count_open(const i64* size, int width, int n_seeds, i64* counters) {
    __shared__ double room[32];
    double n = 0.0;
    for (int k = threadIdx.x; k < width; k += blockDim.x) n += size[k] > 0 || k < n_seeds;
    n = block_sum(n, room);
    if (threadIdx.x == 0) counters[0] = (i64)n;
}

// base[row, k] = ln(m_k + prior_k) - ln of what lengths[row] words cost in slot k; -inf where it is closed.
extern "C" __global__ void fill_base(
    const int* lengths, const i64* size, const i64* total, const double* prior, int width, int n_seeds,
    double beta_sum, double unit, double* base) {
    Prior urn = {};
    urn.beta_sum = beta_sum;
    const int k = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (k >= width) return;
    double value = -INF;
    if (size[k] > 0 || k < n_seeds) {
        const double weight = size[k] + prior[k];
        value = (weight > 0.0 ? log(weight) : -INF) - log_base(urn, total[k] * unit, lengths[row], 0);
    }
    base[(i64)row * width + k] = value;
}

// Slots under their new numbers: to[w, k] = from[w, old[k]], 0 where old[k] < 0.
extern "C" __global__ void rename_slots(
    const int* from, int from_width, const int* old, int* to, int to_width, i64 n_words) {
    const i64 n = n_words * to_width;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) {
        const int k = (int)(i % to_width), before = old[k];
        to[i] = before < 0 ? 0 : from[i / to_width * from_width + before];
    }
}

// For each block of words: the sum over n_kw > 0 of ln G(n + b) - ln G(b), and of n ln(n + b).
extern "C" __global__ void word_terms(
    const int* held, int width, i64 n_words, const double* beta, int beta_stride, double unit, double* out) {
    __shared__ double room[32];
    double joint = 0.0, likelihood = 0.0;
    for (i64 w = blockIdx.x; w < n_words; w += gridDim.x) {
        const double b = beta[w * beta_stride];
        const double none = lgamma(b);
        for (int k = threadIdx.x; k < width; k += blockDim.x) {
            const int stored = held[w * width + k];
            if (stored == 0) continue;
            const double n = stored * unit;
            joint += lgamma(n + b) - none;
            likelihood += n * log(n + b);
        }
    }
    joint = block_sum(joint, room);
    likelihood = block_sum(likelihood, room);
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = joint;
        out[2 * blockIdx.x + 1] = likelihood;
    }
}

// ln p(words | z) at mean phi, for urns whose counts hold more than the documents' words; a warp each.
extern "C" __global__ void words_given_labels(
    const i64* ptr, const int* word, const int* tally, const int* length, const int* copies, const int* z,
    const double* beta, int beta_stride, double beta_sum, double unit, const int* held, int width,
    const i64* total, i64 n, double* out) {
    __shared__ double room[32];
    const int lane = threadIdx.x & 31;
    const i64 step = (i64)gridDim.x * (blockDim.x >> 5);
    double value = 0.0;
    for (i64 d = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); d < n; d += step) {
        const int k = z[d];
        double nats = lane ? 0.0 : -length[d] * log(total[k] * unit + beta_sum);
        for (i64 e = ptr[d] + lane; e < ptr[d + 1]; e += 32) {
            const i64 w = word[e];
            nats += tally[e] * log(held[w * width + k] * unit + beta[w * beta_stride]);
        }
        value += copies[d] * nats;
    }
    value = block_sum(value, room);
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}
