#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The memory use of this process.
package enum ProcessMemory {
    /// The resident set size in bytes, or `nil` on platforms that do not report it.
    package static var residentBytes: Int? {
        #if os(Linux)
        // The kernel generates the file when it is read, so no disk access blocks the thread.
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let text = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        // Pages: total, resident, shared, …
        let numbers = text.split(separator: UInt8(ascii: " "))
        guard numbers.count > 1, let pages = Int(String(decoding: numbers[1], as: UTF8.self)) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        #else
        return nil
        #endif
    }
}
