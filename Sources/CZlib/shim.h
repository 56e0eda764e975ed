#pragma once

#include <zlib.h>

/// Calls the macro `deflateInit2`, which Swift cannot import, for a stream with gzip header and trailer.
static inline int czlib_deflate_init_gzip(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// Calls the macro `inflateInit2`, which Swift cannot import, for a stream that accepts gzip data only.
static inline int czlib_inflate_init_gzip(z_stream *stream) {
    return inflateInit2(stream, 15 + 16);
}
