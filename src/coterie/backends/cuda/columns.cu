// Columns: the i-th occurrence of a word in a document. Which documents use them, and their rows of gains.

// The largest number of times that a document has each word.
extern "C" __global__ void max_tally(const int* word, const int* tally, i64 n, int* most) {
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += (i64)gridDim.x * blockDim.x)
        if (tally[e] > most[word[e]]) atomicMax(most + word[e], min(tally[e], OCCURRENCES));
}

// uses[offset[w] + i]: documents that have word w more than i times; without burstiness, occurrences of w.
extern "C" __global__ void count_columns(
    const int* word, const int* tally, i64 n, const int* offset, int burstiness, int* uses) {
    for (i64 e = (i64)blockIdx.x * blockDim.x + threadIdx.x; e < n; e += (i64)gridDim.x * blockDim.x) {
        const int c = min(tally[e], OCCURRENCES), first = offset[word[e]];
        if (!burstiness) atomicAdd(uses + first, c);
        else for (int i = 0; i < c; i++) atomicAdd(uses + first + i, 1);
    }
}

// How many rows, columns of the product and left-out columns each document has; and a bound on its error.
extern "C" __global__ void count_rows(
    const i64* ptr, const int* word, const int* tally, const int* length, i64 n, const int* offset, int burstiness,
    const int* place, float of_row, float of_product, const float* gains, i64* n_rows, float* error) {
    for (i64 d = (i64)blockIdx.x * blockDim.x + threadIdx.x; d < n; d += (i64)gridDim.x * blockDim.x) {
        i64 rows = 0, products = 0;
        float rare = 0.f;
        for (i64 e = ptr[d]; e < ptr[d + 1]; e++) {
            const int c = min(tally[e], OCCURRENCES), first = offset[word[e]];
            rare += (tally[e] - c) * gains[first];
            for (int i = 0; i < c; i++) {
                const int column = first + (burstiness ? i : 0), at = place[column];
                rows += at > 0;
                rare += at == RARE ? gains[column] : 0.f;
                products += at < RARE;
            }
        }
        n_rows[d] = rows;
        error[d] = rows > 30000 ? 1e9f : 1e-3f + 1e-5f * length[d] + rows * of_row + products * of_product + rare;
    }
}

// The rows of each document, and a one (or the number of occurrences) in its columns of the product.
extern "C" __global__ void list_rows(
    const i64* ptr, const int* word, const int* tally, i64 n, const int* offset, int burstiness, const int* place,
    const i64* row_ptr, int* row_of, u16* matrix, int n_columns) {
    for (i64 d = (i64)blockIdx.x * blockDim.x + threadIdx.x; d < n; d += (i64)gridDim.x * blockDim.x) {
        i64 to = row_ptr[d];
        for (i64 e = ptr[d]; e < ptr[d + 1]; e++) {
            const int c = min(tally[e], OCCURRENCES), first = offset[word[e]];
            for (int i = 0; i < c; i++) {
                const int at = place[first + (burstiness ? i : 0)];
                if (at > 0) row_of[to++] = at;
                if (at < RARE) {
                    u16* one = matrix + d * n_columns + (RARE - 1 - at);
                    *one = to_half(from_half(*one) + 1.f);
                }
            }
        }
    }
}

__device__ __forceinline__ float gain(int n, double beta, int i) { return log1pf(n / (float)(beta + i)); }

// Rows of bytes: out[r, k] = gain in steps; row 0 is zero.
extern "C" __global__ void fill_bytes(
    const int* held, int width, const int* word_of, const int* times_of, i64 n, const double* beta, int beta_stride,
    float per_step, int row_bytes, u8* out) {
    const int quads = row_bytes / 4;
    for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < n * quads; at += (i64)gridDim.x * blockDim.x) {
        const i64 r = at / quads;
        const int k = (int)(at % quads) * 4;
        uchar4 v = make_uchar4(0, 0, 0, 0);
        if (r > 0 && k < width) {
            const i64 w = word_of[r];
            const double b = beta[w * beta_stride];
            const int4 m = *(const int4*)(held + w * width + k);
            const int i = times_of[r];
            if (m.x) v.x = (u8)fminf(rintf(gain(m.x, b, i) * per_step), 255.f);
            if (m.y) v.y = (u8)fminf(rintf(gain(m.y, b, i) * per_step), 255.f);
            if (m.z) v.z = (u8)fminf(rintf(gain(m.z, b, i) * per_step), 255.f);
            if (m.w) v.w = (u8)fminf(rintf(gain(m.w, b, i) * per_step), 255.f);
        }
        *(uchar4*)(out + r * row_bytes + k) = v;
    }
}

// The factor of the product: out[c, k] = gain, in half precision.
extern "C" __global__ void fill_product(
    const int* held, int width, const int* word_of, const int* times_of, i64 n, const double* beta, int beta_stride,
    u16* out) {
    for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < n * width; at += (i64)gridDim.x * blockDim.x) {
        const i64 c = at / width, w = word_of[c];
        const int m = held[w * width + at % width];
        out[at] = to_half(m ? gain(m, beta[w * beta_stride], times_of[c]) : 0.f);
    }
}

// For each row: how many pieces of 16 bytes it takes, as a list or (below 0) as `whole` pieces (0: never). A warp each.
extern "C" __global__ void measure_rows(const int* held, int width, const int* word_of, i64 n, int whole, int* pieces) {
    const int lane = threadIdx.x & 31;
    const i64 stride = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 r = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); r < n; r += stride) {
        int m = 0;
        if (r > 0)
            for (int k = lane; k < width; k += 32) m += held[(i64)word_of[r] * width + k] != 0;
        for (int s = 16; s; s >>= 1) m += __shfl_xor_sync(~0u, m, s);
        const int listed = (m + 3) / 4;
        if (lane == 0) pieces[r] = !whole || listed <= whole ? listed : -whole;
    }
}

extern "C" __global__ void fill_lists(
    const int* held, int width, const int* word_of, const int* times_of, i64 n, const double* beta, int beta_stride,
    float per_step, const int* where, int* store) {
    const int lane = threadIdx.x & 31;
    const i64 stride = (i64)gridDim.x * (blockDim.x >> 5);
    for (i64 r = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5); r < n; r += stride) {
        const int2 place = ((const int2*)where)[r];
        const i64 w = word_of[r];
        const double b = beta[w * beta_stride];
        unsigned* to = (unsigned*)(store + (i64)place.x * 4);
        int filled = 0;
        for (int at = 0; at < width && place.y; at += 32) {
            const int k = at + lane, m = k < width ? held[w * width + k] : 0;
            const unsigned q = m ? (unsigned)fminf(rintf(gain(m, b, times_of[r]) * per_step), 65535.f) : 0;
            if (place.y < 0) {
                if (k < width) ((u16*)to)[k] = (u16)q;
            } else {
                const unsigned holds = __ballot_sync(~0u, m != 0);
                if (m) to[filled + __popc(holds & ((1u << lane) - 1))] = (unsigned)k | (q << 16);
                filled += __popc(holds);
            }
        }
        if (place.y > 0 && lane < place.y * 4 - filled) to[filled + lane] = (unsigned)width;  // a slot nobody reads
    }
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
