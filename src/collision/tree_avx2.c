// Query of a tree with AVX2: eight boxes per comparison.
#include "collision/tree.h"

#include <immintrin.h>

typedef struct rgWideBox {
    __m256 lower[3], upper[3];
} rgWideBox;

static inline rgWideBox rgWidenBox(const rgFloatBox* box) {
    rgWideBox wide;
    for (int k = 0; k < 3; ++k) {
        wide.lower[k] = _mm256_set1_ps(box->lower[k]);
        wide.upper[k] = _mm256_set1_ps(box->upper[k]);
    }
    return wide;
}

static inline unsigned rgMeetsWide(const rgTreeNode* node, const rgWideBox* box) {
    __m256 meets = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    for (int k = 0; k < 3; ++k) {
        __m256 lower = _mm256_loadu_ps(node->lower[k]), upper = _mm256_loadu_ps(node->upper[k]);
        __m256 below = _mm256_cmp_ps(lower, box->upper[k], _CMP_LE_OQ);
        __m256 above = _mm256_cmp_ps(box->lower[k], upper, _CMP_LE_OQ);
        meets = _mm256_and_ps(meets, _mm256_and_ps(below, above));
    }
    return (unsigned)_mm256_movemask_ps(meets);
}

#include "collision/tree_query.h"

int rgTreeQueryAvx2(const rgTreeNode* nodes, const rgFloatBox* box, int32_t* found) {
    return rgTreeQueryWith(nodes, box, found);
}
