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

// What is added to a row before it is cut to whole numbers, from 0 to 1, times 2^24: its errors are then independent of all
// others. A row is cut twice, to steps of half bytes and to sixteenths of these; a sixteenth of it is as uniform as the whole.
__device__ __forceinline__ unsigned dither(i64 row) { return (unsigned)(mix((row + 1) * GOLDEN) >> 40); }

// How many rows each document has, the sum of squares of how often it has each, a bound on the error of all else, and what
// dithering leaves of the rows, in sixteenths of a step.
extern "C" __global__ void count_rows(
    const i64* ptr, const int* word, const int* tally, const int* length, i64 n, const int* offset, int burstiness,
    const int* place, float half_rounding, const float* gains, i64* n_rows, float* squares, float* error,
    float* shift) {
    for (i64 d = (i64)blockIdx.x * blockDim.x + threadIdx.x; d < n; d += (i64)gridDim.x * blockDim.x) {
        i64 rows = 0, dithered = 0;
        float rare = 0.f, products = 0.f, squared = 0.f;
        for (i64 e = ptr[d]; e < ptr[d + 1]; e++) {
            const int c = min(tally[e], OCCURRENCES), first = offset[word[e]];
            rare += (tally[e] - c) * gains[first + (burstiness ? c - 1 : 0)];  // later ones add less than the last column
            if (place[first] > 0) squared += burstiness ? 0.f : (float)c * c;  // the same row, the same error
            for (int i = 0; i < c; i++) {
                const int column = first + (burstiness ? i : 0), at = place[column];
                rows += at > 0;
                if (at > 0) dithered += dither(at);
                if (at > 0 && burstiness) squared += 1.f;
                rare += at == RARE ? gains[column] : 0.f;
                products += at < RARE ? gains[column] : 0.f;
            }
        }
        n_rows[d] = rows;
        error[d] = rows > 30000 ? 1e9f : 2e-4f + 1e-5f * length[d] + products * half_rounding + rare;
        shift[d] = (float)(0.5 * rows - 0x1.0p-20 * dithered);
        squares[d] = squared;
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

// Rows of half bytes, eight slots at a time: the gain is cut to sixteenths of a step, dithered. out[0, r, k] has whole steps, the
// upper half of such a byte, and out[1, r, k] the lower. Row 0 is zero.
extern "C" __global__ void fill_halves(
    const int* held, int width, const int* word_of, const int* times_of, i64 n, const double* beta, int beta_stride,
    float per_step, int row_bytes, u8* out) {
    const int eights = row_bytes / 4;
    for (i64 at = (i64)blockIdx.x * blockDim.x + threadIdx.x; at < n * eights; at += (i64)gridDim.x * blockDim.x) {
        const i64 r = at / eights;
        const int eight = (int)(at % eights), k = eight * 8;
        unsigned upper = 0u, lower = 0u;
        if (r > 0 && k < width) {
            const i64 w = word_of[r];
            const float b = (float)(beta[w * beta_stride] + times_of[r]), shift = dither(r) * 0x1.0p-20f;
            const int4 m = *(const int4*)(held + w * width + k), l = *(const int4*)(held + w * width + k + 4);
            const int many[8] = {m.x, m.y, m.z, m.w, l.x, l.y, l.z, l.w};
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const float nats = __logf(1.f + __fdividef((float)many[i], b));
                const unsigned byte = (unsigned)fminf(nats * per_step * 16.f + shift, 255.f);
                upper |= (byte >> 4) << (4 * i);
                lower |= (byte & 15u) << (4 * i);
            }
        }
        *(unsigned*)(out + r * row_bytes + eight * 4) = upper;
        *(unsigned*)(out + (n + r) * row_bytes + eight * 4) = lower;
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

// out[k, r] = held[word_at[r], k] in 16 bits, by tiles of 32 x 32; blocks of 256 threads.
extern "C" __global__ void transpose_counts(const int* held, int width, const int* word_at, i64 n_words, u16* out) {
    __shared__ int tile[32][33];
    const int x = threadIdx.x & 31, y = threadIdx.x >> 5, first_slot = blockIdx.y * 32;
    const i64 first_word = (i64)blockIdx.x * 32;
    for (int i = y; i < 32; i += 8)
        if (first_word + i < n_words && first_slot + x < width)
            tile[i][x] = held[(i64)word_at[first_word + i] * width + first_slot + x];
    __syncthreads();
    for (int i = y; i < 32; i += 8)
        if (first_slot + i < width && first_word + x < n_words) out[(first_slot + i) * n_words + first_word + x] =
            to_short(tile[x][i]);
}
