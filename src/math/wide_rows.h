// Few short rows for the wide kernels; included by kernels_avx2.c and kernels_avx512.c. No masks
// here: sums are stored and loaded again at once, and a masked store is not forwarded to the load
// that follows it.
#pragma once

// Six columns, the size of a free body: four and two.
static void rgWideCombineSix(int m, const double* factors, const double* rows, double* out) {
    __m256d low = _mm256_loadu_pd(out);
    __m128d high = _mm_loadu_pd(out + 4);
    for (int r = 0; r < m; ++r) {
        __m256d factor = _mm256_set1_pd(factors[r]);
        low = _mm256_fmadd_pd(factor, _mm256_loadu_pd(rows + 6 * r), low);
        high = _mm_fmadd_pd(_mm256_castpd256_pd128(factor), _mm_loadu_pd(rows + 6 * r + 4), high);
    }
    _mm256_storeu_pd(out, low);
    _mm_storeu_pd(out + 4, high);
}

static void rgWideCombineRows(int m, int width, const double* factors, const double* rows,
                              double* out) {
    if (width == 6) {
        rgWideCombineSix(m, factors, rows, out);
        return;
    }
    int j = 0;
    for (; j + 4 <= width; j += 4) {
        __m256d sum = _mm256_loadu_pd(out + j);
        for (int r = 0; r < m; ++r) {
            sum = _mm256_fmadd_pd(_mm256_set1_pd(factors[r]), _mm256_loadu_pd(rows + r * width + j),
                                  sum);
        }
        _mm256_storeu_pd(out + j, sum);
    }
    for (; j < width; ++j) {
        double sum = out[j];
        for (int r = 0; r < m; ++r) {
            sum += factors[r] * rows[r * width + j];
        }
        out[j] = sum;
    }
}

static void rgWideTransformThree(int width, const double* C, const double* rows, double* out) {
    __m256d c[9];
    for (int k = 0; k < 9; ++k) {
        c[k] = _mm256_set1_pd(C[k]);
    }
    int j = 0;
    for (; j + 4 <= width; j += 4) {
        __m256d x = _mm256_loadu_pd(rows + j);
        __m256d y = _mm256_loadu_pd(rows + width + j);
        __m256d z = _mm256_loadu_pd(rows + 2 * width + j);
        for (int r = 0; r < 3; ++r) {
            __m256d sum = _mm256_mul_pd(c[3 * r], x);
            sum = _mm256_fmadd_pd(c[3 * r + 1], y, sum);
            _mm256_storeu_pd(out + r * width + j, _mm256_fmadd_pd(c[3 * r + 2], z, sum));
        }
    }
    for (; j < width; ++j) {
        for (int r = 0; r < 3; ++r) {
            out[r * width + j] = C[3 * r] * rows[j] + C[3 * r + 1] * rows[width + j] +
                                 C[3 * r + 2] * rows[2 * width + j];
        }
    }
}

static void rgWideTransformRows(int m, int width, const double* C, const double* rows,
                                double* out) {
    if (m == 3) {
        rgWideTransformThree(width, C, rows, out);
        return;
    }
    for (int r = 0; r < m; ++r) {
        for (int j = 0; j < width; ++j) {
            out[r * width + j] = 0;
        }
        rgWideCombineRows(m, width, C + r * m, rows, out + r * width);
    }
}

static double rgSumFour(__m256d a) {
    __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

// Three rows of six: a contact and a free body.
static void rgWideDotThreeSixes(const double* rows, const double* x, double* out) {
    __m256d low = _mm256_loadu_pd(x);
    __m128d high = _mm_loadu_pd(x + 4);
    __m256d a = _mm256_mul_pd(_mm256_loadu_pd(rows), low);
    __m256d b = _mm256_mul_pd(_mm256_loadu_pd(rows + 6), low);
    __m256d c = _mm256_mul_pd(_mm256_loadu_pd(rows + 12), low);
    __m128d a2 = _mm_mul_pd(_mm_loadu_pd(rows + 4), high);
    __m128d b2 = _mm_mul_pd(_mm_loadu_pd(rows + 10), high);
    __m128d c2 = _mm_mul_pd(_mm_loadu_pd(rows + 16), high);
    __m256d ab = _mm256_hadd_pd(a, b);
    __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(ab), _mm256_extractf128_pd(ab, 1));
    pair = _mm_add_pd(pair, _mm_hadd_pd(a2, b2));
    __m128d last = _mm_add_pd(_mm256_castpd256_pd128(c), _mm256_extractf128_pd(c, 1));
    last = _mm_add_pd(last, c2);
    _mm_storeu_pd(out, _mm_add_pd(_mm_loadu_pd(out), pair));
    out[2] += _mm_cvtsd_f64(_mm_add_sd(last, _mm_unpackhi_pd(last, last)));
}

static void rgWideDotRows(int m, int width, const double* rows, const double* x, double* out) {
    if (m == 3 && width == 6) {
        rgWideDotThreeSixes(rows, x, out);
        return;
    }
    for (int r = 0; r < m; ++r) {
        const double* row = rows + r * width;
        __m256d sum = _mm256_setzero_pd();
        int j = 0;
        for (; j + 4 <= width; j += 4) {
            sum = _mm256_fmadd_pd(_mm256_loadu_pd(row + j), _mm256_loadu_pd(x + j), sum);
        }
        double rest = 0;
        for (; j < width; ++j) {
            rest += row[j] * x[j];
        }
        out[r] += rgSumFour(sum) + rest;
    }
}
