import DocumentStore
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HearthCLI

@Suite("Queue of log lines", .timeLimit(.minutes(5)))
struct LogQueueTests {
    private func entry(_ level: Logger.Level, _ message: String) -> LogEntry {
        LogEntry(time: .current(), level: level, message: message, metadata: [:])
    }

    /// A pipe whose buffer is full.
    private func fullPipe() throws -> (reader: FileHandle, writer: FileHandle) {
        let (reader, writer) = try ChildProcess.connection()
        let flags = fcntl(writer.fileDescriptor, F_GETFL)
        #expect(fcntl(writer.fileDescriptor, F_SETFL, flags | O_NONBLOCK) == 0)
        let filling = [UInt8](repeating: UInt8(ascii: "-"), count: 4_096)
        while write(writer.fileDescriptor, filling, filling.count) > 0 {}
        while write(writer.fileDescriptor, filling, 1) > 0 {}
        #expect(fcntl(writer.fileDescriptor, F_SETFL, flags) == 0)
        return (reader, writer)
    }

    @Test
    func `All lines are written in their order before the end`() throws {
        let (reader, writer) = try ChildProcess.connection()
        let queue = LogQueue(descriptor: writer.fileDescriptor, format: .journald)
        for number in 0..<1_000 { queue.append(entry(.info, "\(number)")) }
        let lines = Thread.reading(reader)
        #expect(queue.close(timeout: .seconds(120)))
        try writer.close()
        #expect(lines() == (0..<1_000).map { "<6>\($0)" })
    }

    @Test
    func `While nobody reads, appending does not wait, and drops debug entries first; then a line says how many`() throws {
        let (reader, writer) = try fullPipe()
        let queue = LogQueue(descriptor: writer.fileDescriptor, format: .journald, capacity: 4_000)
        // The thread takes what is there when it wakes up, and waits with it.
        let text = String(repeating: "x", count: 96)
        for _ in 0..<200 { queue.append(entry(.debug, text + "d")) }
        for _ in 0..<200 { queue.append(entry(.info, text + "i")) }
        for _ in 0..<200 { queue.append(entry(.warning, text + "w")) }
        let lines = Thread.reading(reader)
        queue.close(timeout: .seconds(120))
        try writer.close()
        let all = lines()
        let counts = ["d", "i", "w"].map { suffix in all.count { $0.hasSuffix(text + suffix) } }
        // At 101 bytes a line: half, a quarter and a quarter of the capacity, and more if the thread has taken some in between.
        #expect(counts[0] >= 19 && counts[1] >= 9 && counts[2] >= 9, "\(counts)")
        let writtenCount = counts.reduce(0, +)
        #expect(writtenCount < 200)
        let dropped = all.compactMap { $0.firstMatch(of: /<4>Dropped log entries .* log.dropped.count=([0-9]+)$/)?.1 }
        let droppedCount = dropped.compactMap { Int($0) }.reduce(0, +)
        #expect(droppedCount == 600 - writtenCount)
    }

    @Test
    func `Lines that nobody reads are given up at the end`() throws {
        let (reader, writer) = try fullPipe()
        let queue = LogQueue(descriptor: writer.fileDescriptor, format: .text)
        queue.append(entry(.error, "a"))
        let start = ContinuousClock.now
        #expect(!queue.close(timeout: .milliseconds(100)))
        #expect(start.duration(to: .now) >= .milliseconds(100))
        // With a reader, the thread ends before its descriptor is closed.
        let lines = Thread.reading(reader)
        #expect(queue.close(timeout: .seconds(120)))
        try writer.close()
        #expect(lines().last?.hasSuffix("error a") == true)
    }

    @Test
    func `A closed reader loses lines and nothing else`() throws {
        signal(SIGPIPE, SIG_IGN)
        let (reader, writer) = try ChildProcess.connection()
        try reader.close()
        let queue = LogQueue(descriptor: writer.fileDescriptor, format: .text)
        for _ in 0..<10 { queue.append(entry(.error, "a")) }
        #expect(queue.close(timeout: .seconds(120)))
    }
}

extension Thread {
    /// Reads lines on a thread of its own until the end; the returned function waits for it.
    fileprivate static func reading(_ handle: FileHandle) -> () -> [String] {
        let received = ReceivedText()
        detachNewThread {
            let bytes = (try? handle.readToEnd()) ?? Data()
            received.text.withLock { $0 = String(decoding: bytes, as: UTF8.self) }
            received.isComplete.signal()
        }
        return {
            received.isComplete.wait()
            return received.text.withLock { $0.split(separator: "\n").map { String($0) } }
        }
    }
}

/// The text that a thread has read.
private final class ReceivedText: Sendable {
    let text = Mutex("")
    let isComplete = DispatchSemaphore(value: 0)
}
