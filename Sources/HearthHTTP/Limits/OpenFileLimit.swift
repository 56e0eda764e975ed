#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The limit on open file descriptors of this process (`RLIMIT_NOFILE`).
package struct OpenFileLimit: Hashable, Sendable {
    package let count: Int

    /// The upper bound of ``connections``: more would only use memory.
    private static let maximumConnections = 8_192

    package init(_ count: Int) {
        self.count = count
    }

    /// The current soft limit.
    package static var current: OpenFileLimit {
        OpenFileLimit(clamping: limits().rlim_cur)
    }

    /// Raises the soft limit to the hard limit and returns it. The default soft limit is often 1,024, although
    /// the hard limit is much higher.
    @discardableResult
    package static func raise() -> OpenFileLimit {
        var limits = limits()
        limits.rlim_cur = limits.rlim_max
        // On failure the limit is unchanged.
        _ = setrlimit(openFiles, &limits)
        return current
    }

    /// The number of connections that leaves enough descriptors for the store: the limit minus 1,536, or half of a small limit.
    package var connections: Int {
        max(1, min(count - min(1_536, count / 2), Self.maximumConnections))
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
