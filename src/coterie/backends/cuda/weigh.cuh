// The log weights of one document for every slot, in `score` (double, one per slot), by a whole block.
//
// log weight = ln(m_k + prior_k) + sum_w ln rising(n_kw + b_w, c_w) - ln rising(n_k + Vb, N_d), relative to an
// empty cluster, the document itself left out of its own slot (own < 0: it is in none). The words of a
// slot are one product in double precision, whose exponent is kept apart, so nothing overflows.

#define AHEAD 4  // words whose rows are asked for before the first is used

struct Corpus {
    const i64* ptr;
    const int* word;
    const int* tally;
    const int* length;
    const int* copies;
};

struct Prior {
    const double* beta;    // one per word, or one for all
    const double* inv_beta;
    int beta_stride;       // 1 or 0
    double beta_sum;
    double unit;           // what a stored count of 1 is worth
    int one;
    int burstiness;
    int n_seeds;
    double size_prior;
    double open_weight;
    double cap;
    double kappa;          // 0: vectors do not count
    double rho;
};

struct Slots {
    const int* held;
    int width;
    const i64* size;
    const i64* total;
    const double* prior;   // what is added to a slot's size
    const double* norm;    // |S_k|^2, where vectors count
};

// The exponent of a product goes into an int of its own.
__device__ __forceinline__ void split(double& product, int& exponent) {
    const int high = __double2hiint(product);
    exponent += (high >> 20) - 1023;
    product = __hiloint2double((high & 0xfffff) | 0x3ff00000, __double2loint(product));
}

// What g documents of `length` words cost in a slot of `words` words, above an empty one.
__device__ __forceinline__ double log_base(const Prior& urn, double words, double length, int at_mean) {
    if (at_mean) return length * log1p(words / urn.beta_sum);
    return log_rising(words + urn.beta_sum, length) - log_rising(urn.beta_sum, length);
}

// kappa (gain - gain of an empty cluster); own: with the document taken out. In single precision, as the products are.
__device__ __forceinline__ float log_location(
    const Prior& urn, float copies, float own_norm, float norm, float dot, bool own) {
    const float rho = (float)urn.rho, rho2 = rho * rho;
    const float empty = own_norm / (sqrtf(rho2 + own_norm) + rho);
    float grown = 2.f * copies * dot + own_norm, before = norm;
    if (own) {
        grown = 2.f * copies * dot - own_norm;
        before = fmaxf(norm - grown, 0.f);
    }
    const float after = sqrtf(fmaxf(rho2 + before + grown, 0.f));
    return (float)urn.kappa * (grown / (after + sqrtf(rho2 + before)) - empty);
}

// Words with many copies: one log-gamma difference instead of many factors.
__device__ __noinline__ double many_steps(double x, double beta, double steps, int burstiness) {
    if (!burstiness) return steps * log1p(x / beta);
    return log_rising(x + beta, steps) - log_rising(beta, steps);
}

__device__ __forceinline__ void weigh_words(
    const Corpus& docs, const Prior& urn, const Slots& slots, i64 d, int own, int copies,
    int flush, int at_mean, double* score) {
    const i64 begin = docs.ptr[d], end = docs.ptr[d + 1];
    const bool rising = urn.burstiness && !at_mean;
    for (int k = threadIdx.x * 4; k < slots.width; k += blockDim.x * 4) {
        double product[4] = {1.0, 1.0, 1.0, 1.0}, many[4] = {0.0, 0.0, 0.0, 0.0};
        int exponent[4] = {0, 0, 0, 0}, pending = 0;
        const int mine = own - k;
        for (i64 at = begin; at < end; at += AHEAD) {
            int4 rows[AHEAD];
            int words[AHEAD], steps[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const i64 e = at + i < end ? at + i : end - 1;
                words[i] = docs.word[e];
                steps[i] = at + i < end ? docs.tally[e] * copies : 0;
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                rows[i] = *(const int4*)(slots.held + (i64)words[i] * slots.width + k);
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const i64 w = (i64)words[i] * urn.beta_stride;
                const int taken = steps[i] * urn.one;
                const double x[4] = {
                    (rows[i].x - (mine == 0 ? taken : 0)) * urn.unit,
                    (rows[i].y - (mine == 1 ? taken : 0)) * urn.unit,
                    (rows[i].z - (mine == 2 ? taken : 0)) * urn.unit,
                    (rows[i].w - (mine == 3 ? taken : 0)) * urn.unit};
                if (steps[i] > MANY) {
                    for (int j = 0; j < 4; j++)
                        if (x[j] > 0.0) many[j] += many_steps(x[j], urn.beta[w], steps[i], rising);
                    continue;
                }
                for (int step = 0; step < steps[i]; step++) {
                    const double r = step && rising ? 1.0 / (urn.beta[w] + step) : urn.inv_beta[w];
#pragma unroll
                    for (int j = 0; j < 4; j++) product[j] *= fma(x[j], r, 1.0);
                    if (++pending >= flush) {
#pragma unroll
                        for (int j = 0; j < 4; j++) split(product[j], exponent[j]);
                        pending = 0;
                    }
                }
            }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) score[k + j] = exponent[j] * LN2 + log(product[j]) + many[j];
    }
}

// Adds what depends on sizes, totals and vectors to the words' part. `base`: a row that holds
// ln(m_k + prior_k) - log_base of this length, or nullptr. Each thread only touches what it wrote.
__device__ __forceinline__ void weigh_slots(
    const Corpus& docs, const Prior& urn, const Slots& slots, i64 d, int own, int copies,
    const double* base, const float* dot, double own_norm, int at_mean, double* score) {
    const double length = (double)docs.length[d] * copies;
    for (int k0 = threadIdx.x * 4; k0 < slots.width; k0 += blockDim.x * 4) {
        for (int k = k0; k < k0 + 4; k++) {
            double value;
            if (base != nullptr && k != own) {
                value = base[k];
            } else {
                const double size = (double)slots.size[k] - (k == own ? copies : 0);
                double words = slots.total[k] * urn.unit - (k == own ? length : 0.0);
                const bool open = size > 0.0 || k < urn.n_seeds;
                words = fmax(words, 0.0);
                value = open ? log_rising(size + slots.prior[k], copies) - log_base(urn, words, length, at_mean)
                             : -INF;
            }
            if (urn.kappa > 0.0 && !at_mean && value > -INF)
                value += log_location(urn, copies, own_norm, slots.norm[k], dot[k], k == own);
            score[k] += value;
        }
    }
}
