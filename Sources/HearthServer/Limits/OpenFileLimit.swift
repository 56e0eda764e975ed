#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How many files and sockets this process may have open at the same time.
package struct OpenFileLimit: Hashable, Sendable {
    /// The number that the system enforces.
    package let count: Int

    /// More connections than this are of no use to one machine, and each takes memory.
    private static let mostConnections = 8_192

    package init(_ count: Int) {
        self.count = count
    }

    /// The limit as it is now.
    package static var current: OpenFileLimit {
        OpenFileLimit(clamping: limits().rlim_cur)
    }

    /// Raises the limit to the highest that this process may have, and returns it. Whoever starts a program is often given
    /// 1,024 where many more are allowed.
    @discardableResult
    package static func raise() -> OpenFileLimit {
        var limits = limits()
        limits.rlim_cur = limits.rlim_max
        // Where it is refused, the limit stays what it was.
        _ = setrlimit(openFiles, &limits)
        return current
    }

    /// How many connections leave enough for the store's files: all but 1,536, or half of a small limit.
    package var connections: Int {
        max(1, min(count - min(1_536, count / 2), Self.mostConnections))
    }

    private init(clamping count: rlim_t) {
        self.init(Int(clamping: count))
    }

    private static func limits() -> rlimit {
        var limits = rlimit()
        guard getrlimit(openFiles, &limits) == 0 else { return rlimit(rlim_cur: 1_024, rlim_max: 1_024) }
        return limits
    }

    #if canImport(Glibc)
    private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let openFiles = RLIMIT_NOFILE
    #endif
}
