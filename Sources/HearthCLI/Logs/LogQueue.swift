import DocumentModel
import DocumentStore
import Foundation
import Logging
import Synchronization

/// A bounded queue of lines that one thread writes to a file descriptor, so that logging never waits for whoever reads the lines.
///
/// While nobody reads, entries are dropped as the queue fills: those of level debug from half its size, those of level info and notice
/// from three quarters. Once there is room again, a line says how many were dropped. A closed descriptor loses the lines and nothing
/// else.
final class LogQueue: Sendable {
    private struct State {
        var lines: [[UInt8]] = []
        var byteCount = 0
        var droppedCount = 0
        var isClosed = false
    }

    private let descriptor: Int32
    private let format: LogFormat
    private let capacity: Int
    private let state = Mutex(State())
    /// Wakes the thread.
    private let work = DispatchSemaphore(value: 0)
    private let finished = DispatchSemaphore(value: 0)

    /// The default number of bytes that may wait.
    static let standardCapacity = 4 << 20
    /// The bytes that a pipe takes at once if it takes any: the `PIPE_BUF` of Linux.
    private static let maximumWriteBytes = 4_096

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - descriptor: The file descriptor, which the queue doesn't close.
    ///   - format: The form of the lines.
    ///   - capacity: The maximum number of bytes that wait.
    init(descriptor: Int32 = STDERR_FILENO, format: LogFormat, capacity: Int = LogQueue.standardCapacity) {
        self.descriptor = descriptor
        self.format = format
        self.capacity = capacity
        // Retained by the thread until it is closed.
        let thread = Thread { self.run() }
        thread.name = "hearth.log"
        thread.start()
    }

    /// Appends an entry, or drops it if too many wait. Returns without waiting.
    func append(_ entry: LogEntry) {
        let line = entry.line(format)
        let wasEmpty = state.withLock { state in
            guard !state.isClosed, state.byteCount + line.count <= limit(for: entry.level) else {
                state.droppedCount += 1
                return false
            }
            state.lines.append(line)
            state.byteCount += line.count
            return state.lines.count == 1
        }
        if wasEmpty { work.signal() }
    }

    /// The number of bytes that may wait when an entry of a level is appended.
    private func limit(for level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: capacity / 2
        case .info, .notice: capacity / 4 * 3
        case .warning, .error, .critical: capacity
        }
    }

    /// Writes what waits and ends the thread. Blocks the calling thread, for use at the end of the process.
    ///
    /// - Parameter timeout: The time after which the remaining lines are given up.
    /// - Returns: False if lines are left.
    @discardableResult
    func close(timeout: Duration = .seconds(2)) -> Bool {
        state.withLock { $0.isClosed = true }
        work.signal()
        let (seconds, attoseconds) = timeout.components
        let deadline = DispatchTime.now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
        guard finished.wait(timeout: deadline) == .success else { return false }
        // For further calls.
        finished.signal()
        return true
    }

    private func run() {
        while true {
            work.wait()
            while let lines = takeLines() { write(lines) }
            if state.withLock({ $0.isClosed && $0.lines.isEmpty }) { break }
        }
        finished.signal()
    }

    /// Takes the lines that wait, and the report of those that were dropped; `nil` if there are none.
    private func takeLines() -> [[UInt8]]? {
        let (lines, droppedCount) = state.withLock { state in
            defer { (state.lines, state.byteCount, state.droppedCount) = ([], 0, 0) }
            return (state.lines, state.droppedCount)
        }
        guard droppedCount > 0 else { return lines.isEmpty ? nil : lines }
        let report = LogEntry(
            time: .current(),
            level: .warning,
            message: "Dropped log entries that could not be written in time",
            metadata: ["log.dropped.count": .stringConvertible(droppedCount)]
        )
        return lines + [report.line(format)]
    }

    /// Writes lines, as many at a time as a pipe takes without interleaving them with those of other programs.
    private func write(_ lines: [[UInt8]]) {
        var block: [UInt8] = []
        for line in lines {
            if block.count + line.count > Self.maximumWriteBytes, !block.isEmpty {
                write(block)
                block.removeAll(keepingCapacity: true)
            }
            block += line
        }
        write(block)
    }

    /// Writes bytes, waiting for their reader. Those that can't be written are lost.
    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard Foundation.poll(&poll, 1, -1) >= 0 else {
                guard errno == EINTR else { return }
                continue
            }
            // No more than a writable pipe takes: the descriptor is in blocking mode, as others use it too.
            let count = rest.prefix(Self.maximumWriteBytes).withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno != EINTR, errno != EAGAIN { return }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
