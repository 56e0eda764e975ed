import DocumentModel
import DocumentStore
import PrometheusMetrics

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The metrics of the program and its process, under the names that Prometheus has for all programs.
enum ProcessMetrics {
    static func declare(in registry: MetricsRegistry) {
        registry.sampled("hearth_build_info", "The version of the program; the value is always 1.") {
            [.init(["version": ServerDescription.version], 1)]
        }
        registry.sampledValue("process_cpu_seconds_total", "Processor time of the process.", .counter) { cpuSeconds }
        registry.sampledValue("process_resident_memory_bytes", "Resident memory of the process.") {
            ProcessMemory.residentBytes.map(Double.init)
        }
        registry.sampledValue("process_open_fds", "Open file descriptors of the process.") { openFileCount.map(Double.init) }
        registry.sampledValue("process_max_fds", "The limit on open file descriptors of the process.") { openFileLimit }
        let startTime = Timestamp.current()
        registry.sampledValue("process_start_time_seconds", "The time at which the process started, in Unix time.") {
            startTime.unixSeconds
        }
    }

    private static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static var openFileLimit: Double? {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return Double(limit.rlim_cur)
    }

    /// The number of open file descriptors, or `nil` on platforms that do not report it.
    private static var openFileCount: Int? {
        #if os(Linux)
        // The kernel generates the folder when it is read, so no disk access blocks the thread.
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without the entries . and .., and the descriptor of the folder.
        return max(0, count - 3)
        #else
        return nil
        #endif
    }
}
