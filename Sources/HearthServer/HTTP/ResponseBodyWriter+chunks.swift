import Hummingbird
import NIOCore

extension ResponseBodyWriter {
    /// Writes bytes no faster than the client takes them: of what it does not read, its connection holds no more than a few of
    /// these chunks.
    ///
    /// - Parameter eventLoop: The one of the connection. Elsewhere, more could be written before the connection is known to
    ///   take no more.
    mutating func write<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes, on eventLoop: any EventLoop) async throws {
        guard bytes.count > chunkBytes else { return try await write(ByteBuffer(bytes: bytes)) }
        try await withTaskExecutorPreference(EventLoopExecutor(eventLoop)) {
            var rest = bytes[...]
            while !rest.isEmpty {
                // Copied, so that what a connection holds does not keep all the bytes in memory.
                try await write(ByteBuffer(bytes: rest.prefix(chunkBytes)))
                rest = rest.dropFirst(chunkBytes)
                // Other connections have the same event loop.
                await Task.yield()
            }
        }
    }
}

/// How many bytes are handed to a connection at a time.
let chunkBytes = 32 << 10

/// Runs a task on the thread of a connection.
private final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
