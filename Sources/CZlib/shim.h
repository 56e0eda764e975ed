#pragma once

#include <zlib.h>

/// `deflateInit2` is a macro, which Swift doesn't see: this begins a stream with the header and trailer of gzip.
static inline int czlib_begin_gzip(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// The same for `inflateInit2`: it takes nothing but the format of gzip.
static inline int czlib_begin_gunzip(z_stream *stream) {
    return inflateInit2(stream, 15 + 16);
}
