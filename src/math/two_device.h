// rgTwo on devices, which have no such types: two numbers side by side with the same operations.
// Included by two.h within extern "C", with `static` for both host and device.
#pragma once

extern "C++" {

template <typename T> struct rgTwoOf {
    typedef T Number;
    T at[2];
    __host__ __device__ T& operator[](int i) {
        return at[i];
    }
    __host__ __device__ const T& operator[](int i) const {
        return at[i];
    }
};
typedef rgTwoOf<double> rgTwo;
typedef rgTwoOf<int64_t> rgTwoInts;

// The type of a number is that of the pair: int may stand for int64_t.
#define RG_TWO_OPERATOR(op)                                                                        \
    template <typename T> static inline rgTwoOf<T> operator op(rgTwoOf<T> a, rgTwoOf<T> b) {       \
        return rgTwoOf<T>{a.at[0] op b.at[0], a.at[1] op b.at[1]};                                 \
    }                                                                                              \
    template <typename T>                                                                          \
    static inline rgTwoOf<T> operator op(typename rgTwoOf<T>::Number a, rgTwoOf<T> b) {            \
        return rgTwoOf<T>{a op b.at[0], a op b.at[1]};                                             \
    }                                                                                              \
    template <typename T>                                                                          \
    static inline rgTwoOf<T> operator op(rgTwoOf<T> a, typename rgTwoOf<T>::Number b) {            \
        return rgTwoOf<T>{a.at[0] op b, a.at[1] op b};                                             \
    }                                                                                              \
    template <typename T> static inline rgTwoOf<T>& operator op##=(rgTwoOf<T>& a, rgTwoOf<T> b) {  \
        return a = a op b;                                                                         \
    }                                                                                              \
    template <typename T>                                                                          \
    static inline rgTwoOf<T>& operator op##=(rgTwoOf<T>& a, typename rgTwoOf<T>::Number b) {       \
        return a = a op b;                                                                         \
    }
#define RG_TWO_COMPARED(op)                                                                        \
    static inline rgTwoInts operator op(rgTwo a, rgTwo b) {                                        \
        return rgTwoInts{-(int64_t)(a.at[0] op b.at[0]), -(int64_t)(a.at[1] op b.at[1])};          \
    }
RG_TWO_OPERATOR(+)
RG_TWO_OPERATOR(-)
RG_TWO_OPERATOR(*)
RG_TWO_OPERATOR(&)
RG_TWO_OPERATOR(|)
RG_TWO_COMPARED(<)
RG_TWO_COMPARED(>)
RG_TWO_COMPARED(<=)
RG_TWO_COMPARED(>=)

static inline rgTwoInts operator~(rgTwoInts a) {
    return rgTwoInts{~a.at[0], ~a.at[1]};
}
static inline rgTwo operator-(rgTwo a) {
    return rgTwo{-a.at[0], -a.at[1]};
}
static inline rgTwo rgChooseTwo(rgTwoInts which, rgTwo a, rgTwo b) {
    return rgTwo{which.at[0] ? a.at[0] : b.at[0], which.at[1] ? a.at[1] : b.at[1]};
}

#undef RG_TWO_OPERATOR
#undef RG_TWO_COMPARED

} // extern "C++"
