internal import Glibc

/// The process's memory allocator (`malloc`).
enum Allocator {
    /// Returns free heap pages to the operating system.
    ///
    /// Memory freed by commits and responses is fragmented by long-lived cache entries, and glibc does not return such pages on
    /// its own: under sustained writes the resident set would grow to twice the memory in use.
    static func trim() {
        _ = mallocTrim?(0)
    }

    /// `int malloc_trim(size_t pad)`, which Swift's Glibc module does not import. It is looked up by name, so its type is the C
    /// type.
    private static let mallocTrim: (@convention(c) (Int) -> Int32)? = dlsym(nil, "malloc_trim").map {
        unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }
}
