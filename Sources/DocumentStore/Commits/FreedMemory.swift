internal import Glibc

/// Memory that has been freed and that the allocator keeps.
enum FreedMemory {
    /// Gives it back to the system.
    ///
    /// What commits and answers free lies in pieces between what caches keep, and glibc gives none of that back by itself: under writes
    /// that never end the process would become twice as large as what it uses.
    static func giveBack() {
        _ = trim?(0)
    }

    /// `int malloc_trim(size_t pad)`, which Swift's Glibc module leaves out. Looked up by name, so its type is C's own.
    private static let trim: (@convention(c) (Int) -> Int32)? = dlsym(nil, "malloc_trim").map {
        unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }
}
