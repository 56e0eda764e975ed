internal import CLinux
package import DocumentModel
internal import Glibc

/// Threads of low priority, for long work of which others are to notice little.
package enum BackgroundThreads {
    private final class Job: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Calls `body` on several threads at the same time, and waits for all of them. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - count: The number of threads.
    ///   - body: Called with the number of the thread, from 0.
    /// - Throws: `.resourceExhausted` if the system has no thread left, after those that did start have ended.
    package static func run(count: Int, _ body: @escaping @Sendable (Int) -> Void) throws(StatusError) {
        var threads: [pthread_t] = []
        defer { for thread in threads { pthread_join(thread, nil) } }
        for number in 0..<count {
            let job = Unmanaged.passRetained(Job { body(number) })
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, threadMain, job.toOpaque())
            guard code == 0 else {
                job.release()
                throw StatusError(.resourceExhausted, "The system has no thread left (\(String(cString: strerror(code)))).")
            }
            threads.append(thread)
        }
    }

    /// Returns the number of the thread that handles a file, if each of them goes through all files and handles its part.
    package static func number(for name: some Sequence<UInt8>, of count: Int) -> Int {
        // FNV-1a.
        var hash: UInt32 = 2_166_136_261
        for byte in name { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return Int((hash >> 16) % UInt32(count))
    }

    private static let threadMain: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
        clinux_lower_thread_priority()
        if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body() }
        return nil
    }
}
